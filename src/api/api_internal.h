/* SPDX-License-Identifier: MIT
 * Inside api/: what the handles hold. */
#ifndef AG_API_INTERNAL_H
#define AG_API_INTERNAL_H
#include "api/api.h"
#include "base/arena.h"

struct anagyre_model {
  ag_heap *kept,
      *heap; /* of the handle and its text; of what follows from them. NULL: of the program, which has its own */
  char trouble[AG_HEAP_WHY + 16]; /* memory ran out in the last call; "": it did not */
  bool lost;                      /* it did while the text was changed: nothing works any more */
  char *word, *path, *text;       /* as asked for; where it was found; NULL when it was not */
  size_t size;
  int n_set, cap_set;
  ag_set *sets; /* owned */
  char *end_at, *drivers;
  ag_ctx found;     /* of finding the text: stays */
  ag_ctx ctx;       /* of reading and deriving it */
  ag_ctx call;      /* of the last call */
  ag_status status; /* of finding, reading and deriving */
  bool read;        /* has it been tried with these changes? */
  ag_model *model;
  ag_system *system;
  ag_derive_options derived; /* how system was made, or tried */
  bool tried;
  ag_text error, notes;
  ag_record record; /* what anagyre_value reads */
  double *values;
};

static inline char *ag_api_copy(const char *s) {
  ag_text x = {0};
  ag_text_str(&x, s);
  ag_text_char(&x, 0);
  return x.s;
}

static const ag_pos ag_api_nowhere = {0};

/* Calls call(self) with the heap of the handle. False: memory ran out, m->trouble says so, and what was read and
 * derived is forgotten; the text is not. */
bool ag_api_call(anagyre_model *m, void (*call)(void *self), void *self);

/* A heap for a result that outlives the handle, NULL for the program; false: no memory, m->trouble says so. */
bool ag_api_result_heap(anagyre_model *m, ag_heap **heap);

/* Finds the text of a model; trouble goes to m->found. */
AG_MUST_USE ag_status ag_api_find(anagyre_model *m, const char *word);
/* Reads the text from an open file; the path is set. */
AG_MUST_USE ag_status ag_api_read(anagyre_model *m, int fd);
/* Makes the events of these names end a run. */
AG_MUST_USE ag_status ag_api_terminal(ag_ctx *ctx, ag_model *m, const char *names);
/* Puts functions of t, "W=EXPR; V=EXPR", in the place of the noise. */
AG_MUST_USE ag_status ag_api_drive(ag_ctx *ctx, ag_model *m, const char *drivers);
/* The options of a caller of any version, completed; NULL stands for defaults. False: reported. */
bool ag_api_options(ag_ctx *ctx, const anagyre_options *o, anagyre_options *all);

/* A record that outlives its system: names copied. */
void ag_api_record_init(ag_record *r, const ag_system *sys);
void ag_api_record_done(ag_record *r);
void ag_api_record_move(const ag_record *r, ag_heap *to);
/* n records turned into one array per column, one behind the other: column c begins at n * columns[c].offset. */
double *ag_api_columns(const ag_record *record, long n, const double *rows);
/* A column of such an array by its name. */
anagyre_array ag_api_view(const ag_record *record, long n, const double *columns, const char *name);
#endif
