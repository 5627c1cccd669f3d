/* SPDX-License-Identifier: MIT
 * Tables of coefficients: integrals c(r).w + f(r) along one shape variable. */
#include "cli/shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "cli/cli.h"
#include "cli/csv.h"
#include "cli/output.h"

enum { SHOWN = 9, SAVED = 401 };

static int width(const ag_shape *s) { return 1 + s->n * (s->n + 1); }

/* Number k of a row belongs to r (0), a coefficient or f: "c12", "f1". False: it is an f that is 0. */
static bool name_of(const ag_shape *s, int k, ag_text *out) {
  int i = (k - 1) / (s->n + 1), j = (k - 1) % (s->n + 1);
  if (k && j == s->n && s->homogeneous) return false;
  ag_text_clear(out);
  if (!k) ag_text_str(out, s->r_text ? s->r_text : "r");
  else if (j == s->n) ag_text_printf(out, "f%d", i + 1);
  else ag_text_printf(out, "c%d%d", i + 1, j + 1);
  return true;
}

static void put_row(const ag_shape *s, const double *row, ag_text *out) {
  ag_text name = {0};
  ag_text_printf(out, "  %-10s  ", "");
  for (int k = 0; k < width(s); k++) {
    if (!name_of(s, k, &name)) continue;
    if (row) ag_text_printf(out, " %11.6g", row[k]);
    else ag_text_printf(out, " %11s", k ? ag_text_cstr(&name) : "r");
  }
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

void ag_shape_lines(const ag_shape *s, double confirmed, ag_text *out) {
  if (!s->n) return;
  ag_text_printf(out, "  %-10s %-15s %d integral%s table k = sum ckj(r) wj%s, r = %s; %d without a formula above\n",
                 "yes", "table", s->n, s->n == 1 ? "" : "s", s->homogeneous ? "" : " + fk(r)",
                 s->r_text ? s->r_text : "(long)", s->n_new);
  for (int i = 0; i < s->n; i++)
    ag_text_printf(out, "  %-10s   w%d = %s\n", "", i + 1, s->w_text[i] ? s->w_text[i] : "(long)");
  ag_text_printf(out, "  %-10s   the rates are w' = r' (C(r) w%s): linear equations for the coefficients\n", "",
                 s->homogeneous ? "" : " + k(r)");
  ag_text_printf(out, "  %-10s   proved: an identity, chance of error below %.0e\n", "", s->bound);
  for (int i = 0; i < s->n && !isnan(confirmed); i++) {
    if (isnan(s->drift[i])) ag_text_printf(out, "  %-10s   table %d: the run does not meet the table\n", "", i + 1);
    else
      ag_text_printf(out, "  %-10s   table %d, drift in a run: %.2e up to t = %.6g\n", "", i + 1, s->drift[i],
                     confirmed);
  }
  put_row(s, NULL, out);
  int shown = s->n_row < SHOWN ? s->n_row : SHOWN;
  for (int k = 0; k < shown; k++)
    put_row(s, s->rows + (shown > 1 ? k * (s->n_row - 1) / (shown - 1) : 0) * width(s), out);
}

void ag_shape_json(ag_json *j, const ag_shape *s, double confirmed) {
  if (!s->n) return;
  ag_text name = {0};
  ag_json_begin(j, "table", '{');
  ag_json_whole(j, "integrals", s->n);
  ag_json_whole(j, "without_formula", s->n_new);
  ag_json_string(j, "shape", s->r_text);
  ag_json_begin(j, "functions", '[');
  for (int i = 0; i < s->n; i++) ag_json_string(j, NULL, s->w_text[i]);
  ag_json_end(j, ']');
  ag_json_string(j, "proof", ag_proof_word(AG_PROOF_IDENTITY));
  ag_json_number(j, "error_bound", s->bound);
  ag_json_number(j, "start", s->r0);
  if (!isnan(confirmed)) {
    ag_json_begin(j, "drift", '[');
    for (int i = 0; i < s->n; i++) ag_json_number(j, NULL, s->drift[i]);
    ag_json_end(j, ']');
  }
  ag_json_begin(j, "columns", '[');
  for (int k = 0; k < width(s); k++)
    if (name_of(s, k, &name)) ag_json_string(j, NULL, k ? ag_text_cstr(&name) : "r");
  ag_json_end(j, ']');
  ag_json_begin(j, "rows", '[');
  for (int i = 0; i < s->n_row; i++) {
    ag_json_begin(j, NULL, '[');
    for (int k = 0; k < width(s); k++)
      if (name_of(s, k, &name)) ag_json_number(j, NULL, s->rows[i * width(s) + k]);
    ag_json_end(j, ']');
  }
  ag_json_end(j, ']');
  ag_json_end(j, '}');
  ag_text_done(&name);
}

ag_status ag_shape_save(const ag_shape *s, const char *path) {
  if (!s->n)
    return ag_usage("conserve", "--table: this model has no integrals along one shape variable beyond formulas");
  double lo = s->rows[0], hi = s->rows[(s->n_row - 1) * width(s)];
  double *r = ag_heap_alloc(sizeof *r * SAVED), *rows = ag_heap_alloc(sizeof *rows * (size_t)(SAVED * width(s)));
  int first = 0;
  for (int i = 0; i < SAVED; i++) r[i] = lo + (hi - lo) * i / (SAVED - 1);
  int n = ag_shape_rows(s, SAVED, r, rows, &first);
  ag_text out = {0}, name = {0};
  for (int k = 0; k < width(s); k++) {
    if (!name_of(s, k, &name)) continue;
    if (k) ag_text_char(&out, ',');
    ag_csv_quoted(&out, ag_text_cstr(&name));
  }
  ag_text_char(&out, '\n');
  for (int i = first; i < first + n; i++) {
    ag_text_printf(&out, "%.17g", rows[i * width(s)]);
    for (int k = 1; k < width(s); k++)
      if (name_of(s, k, &name)) ag_csv_number(&out, rows[i * width(s) + k]);
    ag_text_char(&out, '\n');
  }
  ag_status status = ag_output_save(path, &out);
  ag_text_done(&out);
  ag_text_done(&name);
  free(r);
  free(rows);
  return status;
}
