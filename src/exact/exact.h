/* SPDX-License-Identifier: MIT
 * Exact readers of the graph: front header of exact/. The only folder that uses FLINT.
 *
 * A program lists the nodes that some expressions need, in order, vectors and matrices kept whole. It is read in two
 * ways, each with one function per row of op.def:
 *   field  over the integers modulo a 61-bit prime: an identity that holds at random points is proved, up to a known
 *          probability of error
 *   ball   in ball arithmetic: an interval without 0 proves that a value is not zero
 * Both read the graph, not tapes: quotients are quotients there. A rotation is given by its nine entries. */
#ifndef AG_EXACT_EXACT_H
#define AG_EXACT_EXACT_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "expr/expr.h"

/* ---- numbers of a file ---- */

/* What a number of a file means: num/den * 10^ten. */
typedef struct ag_meant {
  bool sure;        /* a short decimal or a simple fraction; otherwise any number within 2 ulp may be meant */
  int64_t num, den; /* den 0: no fraction was found */
  int ten;
} ag_meant;
/* A decimal of at most 12 digits is taken literally; otherwise the simplest fraction within 2 ulp. */
ag_meant ag_number_meant(double v);

/* ---- programs ---- */

typedef struct ag_program ag_program;
/* The outs may depend on nothing but the inputs. */
ag_program *ag_program_create(const ag_graph *g, int n_in, const ag_id *inputs, int n_out, const ag_id *outs);
void ag_program_free(ag_program *p);
int ag_program_n_in(const ag_program *p);  /* numbers of all inputs, row-major, one after the other */
int ag_program_n_out(const ag_program *p); /* likewise of the outputs */
/* An operation that the field cannot evaluate (a held value, sparse solves); AG_OP_NONE: there is none. */
ag_op ag_program_opaque(const ag_program *p);

/* ---- the field ---- */

enum { AG_FIELD_PRIMES = 2, AG_FIELD_ROOTS = 24, AG_FIELD_TURNS = 4 };
/* One point: which prime, which random functions stand for those that are not algebraic, which root of each square, and
 * which of two numbers is the larger where a choice depends on it (the sign of their difference is such a root). */
typedef struct ag_field {
  uint64_t p, below;                /* p = 2^61 - below */
  uint64_t seed;                    /* of the functions */
  uint64_t state;                   /* of ag_field_draw */
  uint64_t signs;                   /* bit k: the k-th root found at this point has the other sign */
  int n_root, n_choice;             /* signs used; those among them that stand for choices */
  uint64_t squares[AG_FIELD_ROOTS]; /* what the roots are of */
  int n_pick;                       /* picks among several numbers, which use signs, too */
  int n_turn;                       /* angles whose half-angle tangent is given */
  uint64_t turn[AG_FIELD_TURNS], half[AG_FIELD_TURNS];
} ag_field;
typedef enum ag_field_status {
  AG_FIELD_OK,
  AG_FIELD_RETRY,    /* a number has no root: try another point */
  AG_FIELD_SINGULAR, /* a division by zero: usually everywhere with these choices */
  AG_FIELD_OPAQUE    /* the program contains an operation that cannot be evaluated here */
} ag_field_status;

ag_field ag_field_at(int prime, uint64_t seed); /* a new point */
uint64_t ag_field_draw(ag_field *f);
uint64_t ag_field_add(const ag_field *f, uint64_t a, uint64_t b);
uint64_t ag_field_sub(const ag_field *f, uint64_t a, uint64_t b);
uint64_t ag_field_mul(const ag_field *f, uint64_t a, uint64_t b);
uint64_t ag_field_invert(const ag_field *f, uint64_t a); /* 0 for 0 */
uint64_t ag_field_whole(const ag_field *f, int64_t n);
uint64_t ag_field_number(const ag_field *f, double v); /* as it is meant */
void ag_field_rotation(ag_field *f, uint64_t *R);      /* a random one, of a rational quaternion; nine entries */
bool ag_field_root(ag_field *f, uint64_t a, uint64_t *root);
/* Gives this number, as an angle, a half-angle tangent, which is set afterwards; false: too many have one. A multiple
 * of the angle that is not whole cannot be read then. */
bool ag_field_hold(ag_field *f, uint64_t angle);
void ag_field_turn(ag_field *f, uint64_t half); /* of the last one */
/* One of n, by signs; -1: these signs stand for none. */
int ag_field_pick(ag_field *f, int n);
/* The signs that follow these where n_root of them, from number `from` on, were used: starting at 0, all are visited,
 * however many each of them leads to; 0: there are no more. */
uint64_t ag_field_next_signs(uint64_t signs, int from, int n_root);
/* Rational reconstruction: the fraction with |num| and den at most about 10^9 that a stands for; false: none. */
bool ag_field_fraction(const ag_field *f, uint64_t a, int64_t *num, int64_t *den);
/* The same of a number that is a0 modulo the first prime and a1 modulo the second: |num| and den up to 2^58. */
bool ag_field_fraction_of_two(uint64_t a0, uint64_t a1, int64_t *num, int64_t *den);
/* Reduces the n_row x n_col matrix A to row echelon form, pivots 1; returns the rank and the pivot columns. */
int ag_field_echelon(const ag_field *f, int n_row, int n_col, uint64_t *A, int *pivots);
/* Solves A x = b (n x n, b and x n x m, in place of b); destroys A. False: singular. */
bool ag_field_solve(const ag_field *f, int n, int m, uint64_t *A, uint64_t *b);
ag_field_status ag_field_eval(const ag_program *p, ag_field *f, const uint64_t *in, uint64_t *out);

/* ---- balls ---- */

/* FLINT, which is loaded when it is first opened. NULL on failure, with the reason in why. Closing frees what it keeps
 * between calls. */
typedef struct ag_flint ag_flint;
enum { AG_FLINT_WHY = 256 };
ag_flint *ag_flint_open(char why[AG_FLINT_WHY]);
void ag_flint_close(ag_flint *f);

/* A polynomial in n_var variables: n terms, coefficients c and exponents e[term][variable]. */
typedef void (*ag_terms_sink)(void *self, int n, const int64_t *c, const int *e);
/* Its irreducible factors over the rationals, each reported once. False: it cannot be factored, or a coefficient is
 * longer than 63 bits; some factors may have been reported by then. */
bool ag_flint_factor(const ag_flint *f, int n_var, int n, const int64_t *c, const int *e, ag_terms_sink sink,
                     void *self);

/* The different zeros modulo a prime of the polynomial with coefficients c[0..degree], ascending; returns how many. */
int ag_flint_roots(const ag_flint *f, uint64_t prime, int degree, const uint64_t *c, uint64_t *roots);

/* Numbers that are enclosed: an array of FLINT's arb_t behind our own type. */
typedef struct ag_balls ag_balls;
enum { AG_BALL_BITS = 256 };
ag_balls *ag_balls_create(const ag_flint *f, int n); /* all 0 */
void ag_balls_free(ag_balls *b);
void ag_balls_number(ag_balls *b, int i, double v); /* as it is meant: an exact number, pi, or a ball of 2 ulp */
void ag_balls_fraction(ag_balls *b, int i, long num, long den); /* exact */
void ag_balls_double(ag_balls *b, int i, double v);             /* this double itself */
void ag_balls_copy(ag_balls *to, int i, const ag_balls *from, int j, int n);
double ag_balls_middle(const ag_balls *b, int i);
void ag_balls_bounds(const ag_balls *b, int i, double *lo,
                     double *hi); /* rounded outward; NaN where nothing is known */
bool ag_balls_nonzero(const ag_balls *b, int i);
void ag_balls_rotation(ag_balls *b, int i, const long quaternion[4]); /* nine entries from i on */
void ag_balls_turn(ag_balls *b, int i, const double quaternion[4]);   /* the same of doubles, of any length but 0 */
/* to[i] += a[j] * b[k] */
void ag_balls_fma(ag_balls *to, int i, const ag_balls *a, int j, const ag_balls *b, int k);
void ag_balls_negate(ag_balls *b, int i);
bool ag_balls_solve(int n, int m, const ag_balls *A, ag_balls *b); /* in place of b; false: perhaps singular */
/* Gaussian elimination with full pivoting of the m x n matrix A, which is destroyed: |pivots| in size[], largest first
 * step first; returns how many are not 0. */
int ag_balls_pivots(int m, int n, ag_balls *A, double *size);
/* A zero of g near c, enclosed: Newton's method on midpoints, then an interval Newton step that proves it. eval gives
 * the m values at c and their m x m Jacobian. False: not found or not proved; c is then meaningless. */
typedef bool (*ag_balls_function)(void *self, const ag_balls *c, ag_balls *g, ag_balls *J);
bool ag_balls_root(int m, ag_balls_function eval, void *self, ag_balls *c);
/* False: a value could not be enclosed (undefined there, or a choice that cannot be made). */
bool ag_balls_eval(const ag_program *p, const ag_balls *in, ag_balls *out);
#endif
