/* SPDX-License-Identifier: MIT
 * Places as expressions, word for word: even ones need no table, equal tables are written once. */
#include "kern/roll_index.h"

#include "check.h"

static ag_text tables, text;
static ag_roll_index x = {.name = "f", .out = &tables};

static const char *put(uint32_t n, const uint32_t *n_col, const int *at) {
  ag_text_clear(&text);
  ag_roll_index_put(&x, at, n, n_col, &text);
  return ag_text_cstr(&text);
}

static const char *number(uint32_t n, const double *constants, const int *at) {
  ag_text_clear(&text);
  ag_roll_index_number(&x, constants, at, n, NULL, &text);
  return ag_text_cstr(&text);
}

int main(void) {
  AG_CHECK_STR(put(1, NULL, (int[]){7}), "7");
  AG_CHECK_STR(put(3, NULL, (int[]){0, 0, 0}), "0");
  AG_CHECK_STR(put(3, NULL, (int[]){0, 1, 2}), "k");
  AG_CHECK_STR(put(3, NULL, (int[]){5, 8, 11}), "5 + 3 * k");
  AG_CHECK_STR(put(3, NULL, (int[]){5, 4, 3}), "5 - k");
  AG_CHECK_STR(put(2, (uint32_t[]){3, 3}, (int[]){0, 1, 2, 10, 11, 12}), "10 * k + j");
  AG_CHECK_STR(put(2, (uint32_t[]){2, 3}, (int[]){4, 2, 9, 7, 5}), "4 + 5 * k - 2 * j");
  AG_CHECK_STR(put(1, (uint32_t[]){3}, (int[]){4, 5, 6}), "4 + j");
  AG_CHECK(tables.n == 0);
  AG_CHECK_STR(put(3, NULL, (int[]){2, 3, 5}), "2 + f_i0[k]");
  AG_CHECK_STR(put(3, NULL, (int[]){9, 10, 12}), "9 + f_i0[k]");
  AG_CHECK_STR(put(3, (uint32_t[]){2, 2, 2}, (int[]){0, 2, 1, 3, 3, 5}), "f_i0[k] + 2 * j");
  AG_CHECK_STR(ag_text_cstr(&tables), "static const int f_i0[3] = {\n  0, 1, 3,\n};\n");
  AG_CHECK_STR(put(1, (uint32_t[]){3}, (int[]){1, 2, 4}), "1 + f_i0[j]");
  AG_CHECK_STR(put(2, (uint32_t[]){2, 2}, (int[]){0, 1, 5, 7}), "f_i1[2 * k + j]");
  AG_CHECK_STR(put(3, (uint32_t[]){1, 2, 3}, (int[]){0, 1, 5, 7, 8, 9}), "f_i2[f_i0[k] + j]");
  const double constants[] = {0.5, -1, 0.5};
  AG_CHECK_STR(number(2, constants, (int[]){0, 2}), "0.5");
  AG_CHECK_STR(number(2, constants, (int[]){0, 1}), "f_i3[k]");
  ag_roll_index_done(&x);
  ag_text_done(&tables);
  ag_text_done(&text);
  return ag_check_report();
}
