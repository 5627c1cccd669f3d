/* SPDX-License-Identifier: MIT
 * Polynomials with rational coefficients in numbered atoms, exponents of either sign. The normal form (normal.c) is
 * made of them; the meaning of an atom is up to it. Every result lives in the caller's arena. A result that would
 * exceed a bound (terms, exponents, digits of a coefficient) has n = -1, and so has whatever is computed from it. */
#ifndef AG_EXPR_POLY_H
#define AG_EXPR_POLY_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { AG_POLY_ATOMS = 48, AG_POLY_TERMS = 150 };

typedef struct ag_term {
  int64_t num, den; /* in lowest terms, den > 0 */
  int8_t e[AG_POLY_ATOMS];
} ag_term;

typedef struct ag_poly {
  int n;      /* terms, largest exponents first; -1: over the bounds */
  ag_term *t; /* never two with the same exponents, none with num = 0 */
} ag_poly;

ag_poly ag_poly_number(ag_arena *a, int64_t num, int64_t den);
ag_poly ag_poly_atom(ag_arena *a, int k, int exponent);
ag_poly ag_poly_term(ag_arena *a, const ag_term *t);
ag_poly ag_poly_add(ag_arena *a, ag_poly p, ag_poly q);
ag_poly ag_poly_sub(ag_arena *a, ag_poly p, ag_poly q);
ag_poly ag_poly_mul(ag_arena *a, ag_poly p, ag_poly q);
ag_poly ag_poly_power(ag_arena *a, ag_poly p, int n); /* n >= 0 */
bool ag_poly_same(ag_poly p, ag_poly q);
/* p = q*r with exponents of r that are not negative beyond those of p? Then *r. */
bool ag_poly_divide(ag_arena *a, ag_poly p, ag_poly q, ag_poly *r);
/* The content: p = content times a polynomial with whole coprime coefficients, most of them positive. An exponent
 * that has the same sign in all terms is taken out as far as possible; with `least` the least ones are, so that none
 * below 0 remains. p must have terms. */
ag_term ag_poly_content(ag_poly p, bool least);
ag_term ag_term_inverse(const ag_term *t);
bool ag_term_is_one(const ag_term *t);
/* p/q as a fraction with a small denominator, when v is the double next to one. */
bool ag_poly_rational(double v, int64_t largest, int64_t *num, int64_t *den);
#endif
