/* SPDX-License-Identifier: MIT
 * Identities of expressions, decided by structure: a tape over the integers modulo the prime 2^61 - 1.
 *
 * The four operations, fused products and linear solves are exact. Every other operation is a fixed random function of
 * its arguments, with f(-x) = -f(x) or f(x) where op.def says so; sin, cos and tan are rational functions of one such
 * value, so that sin^2 + cos^2 = 1, and a root times itself is its argument. `if c then x else y` is r x + (1 - r) y
 * with a random r of c: it has a property of polynomials only if both branches have it. So an identity between rational
 * functions of the inputs and of such values holds here, and one that fails there fails here, up to a chance of about
 * (degree)/10^18 per evaluation. Values that only happen to be small, or zero where one looks, play no part. Used by
 * lang/degree.c, model/symmetry.c and mech/motion.c. */
#ifndef AG_EXPR_RESIDUE_H
#define AG_EXPR_RESIDUE_H
#include <stdbool.h>
#include <stdint.h>

#include "expr/tape.h"

uint64_t ag_residue_draw(uint64_t *state);              /* the next random residue */
void ag_residue_rotation(uint64_t *state, uint64_t *q); /* a random unit quaternion, as rotations are stored */
uint64_t ag_residue_add(uint64_t a, uint64_t b);
uint64_t ag_residue_sub(uint64_t a, uint64_t b);
uint64_t ag_residue_mul(uint64_t a, uint64_t b);
uint64_t ag_residue_invert(uint64_t a); /* 0 for 0 */
uint64_t ag_residue_of(double v);       /* a finite double is a fraction with a power of two below */
/* Is every entry of the n expressions x 0, whatever the values of the inputs? True: certainly, in the sense above;
 * false: not, or undecided. The expressions may depend on nothing else. */
bool ag_residue_vanish(ag_graph *g, int n_in, const ag_id *inputs, int n, const ag_id *x);
/* z: the segment AG_SEG_Z; the tape may read no other. False: a division by zero. */
bool ag_residue_eval(const ag_tape *tape, const uint64_t *z, uint64_t *out);
#endif
