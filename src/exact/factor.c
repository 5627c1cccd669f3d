/* SPDX-License-Identifier: MIT
 * Irreducible factors over the rationals of a polynomial in several variables, and the zeros of one in one variable
 * modulo a prime, by FLINT. */
#include <stdlib.h>

#include "base/heap.h"
#include "exact/flint.h"

/* Hands a factor on; false: a coefficient is too long. */
static bool tell(const ag_flint *f, int n_var, const fmpz_mpoly_t A, const fmpz_mpoly_ctx_t ctx, ag_terms_sink sink,
                 void *self) {
  const int n = (int)f->fmpz_mpoly_length(A, ctx);
  int64_t *c = ag_heap_alloc(sizeof *c * (size_t)(n + 1));
  int *e = ag_heap_alloc(sizeof *e * (size_t)(n * n_var + 1));
  ulong *exponents = ag_heap_alloc(sizeof *exponents * (size_t)(n_var + 1));
  bool good = true;
  fmpz_t x;
  f->fmpz_init(x);
  for (int i = 0; i < n && good; i++) {
    f->fmpz_mpoly_get_term_coeff_fmpz(x, A, i, ctx);
    f->fmpz_mpoly_get_term_exp_ui(exponents, A, i, ctx);
    good = f->fmpz_fits_si(x) != 0;
    c[i] = good ? f->fmpz_get_si(x) : 0;
    for (int k = 0; k < n_var; k++) e[i * n_var + k] = (int)exponents[k];
  }
  f->fmpz_clear(x);
  if (good) sink(self, n, c, e);
  free(c);
  free(e);
  free(exponents);
  return good;
}

bool ag_flint_factor(const ag_flint *f, int n_var, int n, const int64_t *c, const int *e, ag_terms_sink sink,
                     void *self) {
  fmpz_mpoly_ctx_t ctx;
  fmpz_mpoly_t A;
  fmpz_mpoly_factor_t parts;
  ulong *exponents = ag_heap_alloc(sizeof *exponents * (size_t)(n_var + 1));
  f->fmpz_mpoly_ctx_init(ctx, n_var, ORD_LEX);
  f->fmpz_mpoly_init(A, ctx);
  f->fmpz_mpoly_factor_init(parts, ctx);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n_var; k++) exponents[k] = (ulong)e[i * n_var + k];
    f->fmpz_mpoly_push_term_si_ui(A, c[i], exponents, ctx);
  }
  f->fmpz_mpoly_sort_terms(A, ctx);
  bool good = f->fmpz_mpoly_factor(parts, A, ctx) != 0;
  const int n_part = good ? (int)f->fmpz_mpoly_factor_length(parts, ctx) : 0;
  for (int i = 0; i < n_part && good; i++) {
    f->fmpz_mpoly_factor_get_base(A, parts, i, ctx);
    good = tell(f, n_var, A, ctx, sink, self);
  }
  f->fmpz_mpoly_factor_clear(parts, ctx);
  f->fmpz_mpoly_clear(A, ctx);
  f->fmpz_mpoly_ctx_clear(ctx);
  free(exponents);
  return good;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

int ag_flint_roots(const ag_flint *f, uint64_t prime, int degree, const uint64_t *c, uint64_t *roots) {
  nmod_poly_t A;
  nmod_poly_factor_t parts;
  f->nmod_poly_init(A, prime);
  f->nmod_poly_factor_init(parts);
  for (int i = 0; i <= degree; i++) f->nmod_poly_set_coeff_ui(A, i, c[i]);
  f->nmod_poly_roots(parts, A, 0);
  int n = (int)parts->num;
  for (int i = 0; i < n; i++) { /* h + c0 */
    uint64_t constant = f->nmod_poly_get_coeff_ui(parts->p + i, 0);
    roots[i] = constant ? prime - constant : 0;
  }
  f->nmod_poly_factor_clear(parts);
  f->nmod_poly_clear(A);
  qsort(roots, (size_t)n, sizeof *roots, ascending);
  return n;
}
