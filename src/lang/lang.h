/* SPDX-License-Identifier: MIT
 * The model language: front header of lang/. Text in, ag_model out; docs/language.md is the reference. Never opens
 * files: the caller reads them. */
#ifndef AG_LANG_LANG_H
#define AG_LANG_LANG_H
#include "base/status.h"
#include "model/model.h"

/* A change, as in `--set name=value`: a parameter, coordinate or velocity ("m", "phi'", "x[2]", "Omega") and an
 * expression of the language. It replaces the start values of the file. */
typedef struct ag_set {
  const char *name, *value;
} ag_set;

/* A number that differs between the members of a batch: a scalar parameter, or a start value, which is turned into a
 * parameter ("start x'", a name that no text can use). value: the one to read the model with. */
typedef struct ag_vary {
  const char *name;
  double value;
  int param;          /* output: index of the parameter that holds it, -1 if there is none with this name */
  const char *option; /* where the name comes from, for messages; NULL: "--sweep" */
} ag_vary;

/* Parses and checks a whole file. On AG_OK *out is a model, to be freed with ag_model_free(); otherwise *out is NULL
 * and the context holds at least one error. Sets ctx->file and ctx->source for the positions. */
AG_MUST_USE ag_status ag_lang_read(ag_ctx *ctx, const char *file, const char *text, size_t size, int n_set,
                                   const ag_set *sets, ag_model **out);
/* The same, with numbers to be varied; they are applied after the sets. */
AG_MUST_USE ag_status ag_lang_read_varied(ag_ctx *ctx, const char *file, const char *text, size_t size, int n_set,
                                          const ag_set *sets, int n_vary, ag_vary *varies, ag_model **out);
/* A scalar expression of the parameters from outside a file, as an end of a sweep: text[from .. from + size). Messages
 * name the option ("--sweep") and its text, and count columns in all of it. */
AG_MUST_USE ag_status ag_lang_expression(ag_ctx *ctx, ag_model *m, const char *option, const char *text, size_t from,
                                         size_t size, ag_id *x);
/* The same for an expression of parameters, coordinates and t, such as a potential: text[from ..]. */
AG_MUST_USE ag_status ag_lang_of_coordinates(ag_ctx *ctx, ag_model *m, const char *option, const char *text,
                                             size_t from, ag_id *x);
/* Writes the model in the language, with families, sums and lets with arguments expanded; the user's lets are kept
 * where they stand for part of an expression. The text reads back to the same model, which is written as the same text.
 */
void ag_lang_write(const ag_model *m, ag_text *out);
/* The words of the language, for `help` and suggestions: statements (including reserved ones) and functions. */
int ag_lang_words(const char *const **words);
#endif
