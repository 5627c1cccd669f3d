/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes are a table (.csv) that `anagyre plot` draws. Every number of every column is one of the
 * table; of a figure the script holds quoted texts, words of ours and numbers, whatever the columns are called. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view/view_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 200 }; /* numbers of a row that are read */

static void read_all(ag_source *s) {
  int at[MOST] = {0}, n = 0, next = 0;
  double *out[MOST];
  long n_row;
  ag_text trouble = {0};
  for (int i = 0; i < s->n_column; i++) {
    const ag_column *c = &s->columns[i];
    AG_ASSERT(c->rows > 0 && c->cols > 0 && c->offset == next && *c->name);
    next += c->rows * c->cols;
    for (int k = 0; k < c->rows * c->cols && n < MOST; k++) at[n++] = c->offset + k;
  }
  if (ag_source_read(s, n, at, out, &n_row, &trouble))
    for (int i = 0; i < n; i++) free(out[i]);
  else AG_ASSERT(trouble.n);
  ag_text_done(&trouble);
}

/* Outside of quotes, and inside without what a terminal or gnuplot would obey. */
static void check_script(const char *s) {
  bool inside = false;
  for (; *s; s++) {
    AG_ASSERT(*s == '\n' || (unsigned char)*s >= 0x20);
    AG_ASSERT(!(inside && *s == '\n'));
    if (*s == '\'') inside = !inside; /* '' inside quotes: out and in again */
    else AG_ASSERT(inside || !strchr("`\"", *s));
  }
  AG_ASSERT(!inside);
}

static void draw(ag_source *s) {
  ag_figure f;
  ag_text trouble = {0}, script = {0}, drawn = {0};
  if (ag_figure_make(&f, 1, &s, &(ag_figure_request){.about = true}, &trouble) == AG_OK) {
    const ag_paper paper = {.format = AG_FIGURE_SVG, .width = 8.6};
    ag_gnuplot_script(&f, &paper, "figure", "figure.dat", &script);
    check_script(ag_text_cstr(&script));
    ag_terminal_draw(&f, 80, false, &drawn);
  } else AG_ASSERT(trouble.n);
  ag_figure_done(&f);
  ag_text_done(&trouble);
  ag_text_done(&script);
  ag_text_done(&drawn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[] = "/tmp/table_fuzz_XXXXXX";
  int file = mkstemp(path);
  if (file < 0) return 0;
  bool written = write(file, data, size) == (ssize_t)size;
  close(file);
  ag_status status = AG_OK;
  ag_text trouble = {0};
  ag_source *s = written ? ag_source_csv(path, &status, &trouble) : NULL;
  AG_ASSERT(!written || (s == NULL) == (trouble.n > 0));
  if (s) {
    read_all(s);
    draw(s);
  }
  ag_source_free(s);
  unlink(path);
  ag_text_done(&trouble);
  return 0;
}
