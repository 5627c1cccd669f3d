/* SPDX-License-Identifier: MIT
 * Coefficients of the explicit Lie-group methods. Stage i starts at t + c_i h from z moved by first[i], then by
 * second[i], both combinations of the increments of the stages before; row s is the end of the step. Munthe-Kaas
 * methods move once, by increments pulled back to z. This text is compiled into the library and embedded into compiled
 * kernels: it includes nothing. */
#ifndef AG_STEP_LIE_H
#define AG_STEP_LIE_H
typedef struct ag_lie {
  int s, munthe_kaas;
  int twice[5]; /* per row: it moves by `second`, too */
  double c[4], first[5][4], second[5][4];
} ag_lie;

/* clang-format off */
#define AG_LIE_munthe_kaas2 {2, 1, {0}, {0, 1}, {{0}, {1}, {0.5, 0.5}}, {{0}}}
#define AG_LIE_munthe_kaas3 {3, 1, {0}, {0, 0.5, 1}, \
  {{0}, {0.5}, {-1, 2}, {1.0 / 6, 4.0 / 6, 1.0 / 6}}, {{0}}}
#define AG_LIE_munthe_kaas4 {4, 1, {0}, {0, 0.5, 0.5, 1}, \
  {{0}, {0.5}, {0, 0.5}, {0, 0, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}}, {{0}}}
#define AG_LIE_commutator_free2 {2, 0, {0}, {0, 0.5}, {{0}, {0.5}, {0, 1}}, {{0}}}
#define AG_LIE_commutator_free3 {3, 0, {0, 0, 0, 1}, {0, 1.0 / 3, 2.0 / 3}, \
  {{0}, {1.0 / 3}, {0, 2.0 / 3}, {1.0 / 3}}, {{0}, {0}, {0}, {-1.0 / 12, 0, 0.75}}}
#define AG_LIE_commutator_free4 {4, 0, {0, 0, 0, 1, 1}, {0, 0.5, 0.5, 1}, \
  {{0}, {0.5}, {0, 0.5}, {0.5}, {3.0 / 12, 2.0 / 12, 2.0 / 12, -1.0 / 12}}, \
  {{0}, {0}, {0}, {-0.5, 0, 1}, {-1.0 / 12, 2.0 / 12, 2.0 / 12, 3.0 / 12}}}
/* clang-format on */

#ifdef AG_LIE_METHOD
#define AG_LIE_PASTE_(name) AG_LIE_##name
#define AG_LIE_PASTE(name) AG_LIE_PASTE_(name)
static const ag_lie lie_method = AG_LIE_PASTE(AG_LIE_METHOD);
#define AG_LIE (&lie_method)
#endif
#endif
