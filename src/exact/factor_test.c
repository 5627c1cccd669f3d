/* SPDX-License-Identifier: MIT
 * Factors of polynomials, against products that are known. */
#include "exact/exact.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Values of the factors at x = 3, y = 5, z = 7, up to sign. */
typedef struct seen {
  int n;
  int64_t value[8];
} seen;

static void look(void *self, int n, const int64_t *c, const int *e) {
  static const int64_t at[3] = {3, 5, 7};
  seen *s = self;
  int64_t sum = 0;
  for (int i = 0; i < n; i++) {
    int64_t term = c[i];
    for (int k = 0; k < 3; k++)
      for (int p = 0; p < e[3 * i + k]; p++) term *= at[k];
    sum += term;
  }
  if (s->n < 8) s->value[s->n++] = sum < 0 ? -sum : sum;
}

static bool has(const seen *s, int64_t value) {
  for (int i = 0; i < s->n; i++)
    if (s->value[i] == value) return true;
  return false;
}

int main(void) {
  char why[AG_FLINT_WHY];
  ag_flint *f = ag_flint_open(why);
  AG_CHECK(f != NULL);
  if (!f) return ag_check_report();
  /* (1 + y^2) (1 + z^2) = 1 + y^2 + z^2 + y^2 z^2 */
  seen s = {0};
  AG_CHECK(ag_flint_factor(f, 3, 4, (int64_t[]){1, 1, 1, 1}, (int[]){0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 2, 2}, look, &s));
  AG_CHECK(s.n == 2 && has(&s, 26) && has(&s, 50));
  /* 1 + y^2 + y^4 = (1 + y + y^2) (1 - y + y^2) */
  s = (seen){0};
  AG_CHECK(ag_flint_factor(f, 3, 3, (int64_t[]){1, 1, 1}, (int[]){0, 0, 0, 0, 2, 0, 0, 4, 0}, look, &s));
  AG_CHECK(s.n == 2 && has(&s, 31) && has(&s, 21));
  /* 12 (x - y)^2 (x + 2): each factor once, none for the number */
  s = (seen){0};
  AG_CHECK(ag_flint_factor(f, 3, 6, (int64_t[]){12, -24, 12, 24, -48, 24},
                           (int[]){3, 0, 0, 2, 1, 0, 1, 2, 0, 2, 0, 0, 1, 1, 0, 0, 2, 0}, look, &s));
  AG_CHECK(s.n == 2 && has(&s, 2) && has(&s, 5));
  /* irreducible; and a number */
  s = (seen){0};
  AG_CHECK(ag_flint_factor(f, 3, 2, (int64_t[]){1, 1}, (int[]){0, 0, 0, 0, 2, 2}, look, &s) && s.n == 1);
  s = (seen){0};
  AG_CHECK(ag_flint_factor(f, 3, 1, (int64_t[]){7}, (int[]){0, 0, 0}, look, &s) && s.n == 0);
  ag_flint_close(f);
  return ag_check_report();
}
