/* SPDX-License-Identifier: MIT
 * Inside the normal form: an expression as a polynomial in atoms, its relations, and the way back to a node. */
#ifndef AG_EXPR_NORMAL_INTERNAL_H
#define AG_EXPR_NORMAL_INTERNAL_H
#include "expr/graph_internal.h"
#include "expr/poly.h"

typedef enum ag_atom_kind {
  AG_ATOM_PLAIN,
  AG_ATOM_SIN,    /* partner: the cosine of the same angle */
  AG_ATOM_COS,    /* partner: the sine */
  AG_ATOM_ROOT,   /* a square root; poly: of what */
  AG_ATOM_SUM,    /* a sum in a denominator; poly: the sum */
  AG_ATOM_UNIT,   /* component `part` of a unit vector; partner: where its three components begin */
  AG_ATOM_TENSOR, /* a vector or matrix; terms of tensors have exactly one such factor */
} ag_atom_kind;

typedef struct ag_atom {
  ag_id x, as; /* as: written instead of x, where it has a name; 0: as it is */
  ag_atom_kind kind;
  int partner, part;
  ag_poly poly;
} ag_atom;

/* Sine and cosine as such; those of 2 a, 3 a, 4 a as polynomials in those of a; those of a + b, too. */
typedef enum ag_angles { AG_ANGLES_AS_SUCH, AG_ANGLES_MULTIPLE, AG_ANGLES_SUM, AG_N_ANGLES } ag_angles;

/* How an expression is read: vectors as such or by their components; angles; a x (b x c) as such or expanded. */
typedef struct ag_reading {
  bool components;
  ag_angles angles;
  bool triples;
} ag_reading;

typedef struct ag_normal_state {
  ag_graph *g;
  ag_arena *a;
  ag_reading reading;
  ag_atom atoms[AG_POLY_ATOMS];
  int n_atom;
  ag_poly **memo; /* per node: its entries (one for a scalar; in vector reading, one for a tensor) */
  int n_memo, depth;
  bool dividing;
  long work;      /* spent on writing, in comparisons of terms */
  ag_poly *known; /* sums that may be factors */
  ag_id *known_as;
  int n_known, n_named; /* named ones come first */
} ag_normal_state;

/* normal_read.c: the polynomial of x, a scalar or (in vector reading) a tensor. */
ag_poly ag_normal_read(ag_normal_state *s, ag_id x);
int ag_normal_atom(ag_normal_state *s, ag_id x, ag_atom_kind kind); /* its number; -1: there are too many */
ag_poly ag_normal_inverse(ag_normal_state *s, ag_poly p);

/* normal_relate.c */
/* cos^2 = 1 - sin^2, sqrt(x)^2 = x, |Gamma| = 1: no square of a cosine, a root or a third component remains. */
ag_poly ag_normal_settle(ag_normal_state *s, ag_poly p);
/* p/q in *r when that is a polynomial by the relations; both settled. */
bool ag_normal_divide(ag_normal_state *s, ag_poly p, ag_poly q, ag_poly *r);
/* Over a common denominator, cancelled. */
ag_poly ag_normal_combine(ag_normal_state *s, ag_poly p);
/* p rewritten by the relations so that its node is shortest. A zero gets the shape of `like`. */
ag_id ag_normal_shortest(ag_normal_state *s, ag_poly p, ag_id like, int *size);

/* normal_write.c: p as a node, common factors in front; 0 when that takes too much work. */
enum { AG_NORMAL_WRITTEN = 48, AG_NORMAL_WORK = 1000000 }; /* terms that are worth writing; comparisons of terms */
ag_id ag_normal_write(ag_normal_state *s, ag_poly p, ag_id like); /* like: 0 for a scalar */

/* normal_collect.c: x with like terms added and common factors in front, nothing multiplied out. */
ag_id ag_normal_collect(ag_graph *g, ag_id x);
#endif
