/* SPDX-License-Identifier: MIT
 * The model language: front header of lang/. Text in, ag_model out; docs/language.md is the reference.
 * Never touches files: the caller reads them. */
#ifndef AG_LANG_LANG_H
#define AG_LANG_LANG_H
#include "base/status.h"
#include "model/model.h"

/* A change from outside, as `--set name=value`: a parameter, a coordinate or a velocity ("m", "phi'", "x[2]", "Omega"),
 * and an expression as in the language. A start value set this way replaces those of the file. */
typedef struct ag_set {
  const char *name, *value;
} ag_set;

/* A number that differs from member to member of a batch: a scalar parameter, or a start value, which is made a
 * parameter of its own ("start x'", a name that no text can use). value: the one to read the model with. */
typedef struct ag_vary {
  const char *name;
  double value;
  int param; /* set by reading: index of the parameter that holds it, -1: none has this name */
} ag_vary;

/* Parses and checks a whole file. On AG_OK *out is a model to be freed with ag_model_free(); else *out is NULL and the
 * context holds at least one error. ctx->file and ctx->source are set for the positions. */
AG_MUST_USE ag_status ag_lang_read(ag_ctx *ctx, const char *file, const char *text, size_t size, int n_set,
                                   const ag_set *sets, ag_model **out);
/* The same, with numbers to be varied; they count like changes that come after the sets. */
AG_MUST_USE ag_status ag_lang_read_varied(ag_ctx *ctx, const char *file, const char *text, size_t size, int n_set,
                                          const ag_set *sets, int n_vary, ag_vary *varies, ag_model **out);
/* The model written out again in the language: families, sums and lets with arguments expanded, the person's lets kept
 * where they stand for a part of an expression. Reads back to the same model, and that writes out as the same text. */
void ag_lang_write(const ag_model *m, ag_text *out);
/* The words of the language, for `help` and suggestions: statements (reserved ones included) and functions. */
int ag_lang_words(const char *const **words);
#endif
