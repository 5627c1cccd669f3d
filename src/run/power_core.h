/* SPDX-License-Identifier: MIT
 * The integral of the power over a part of a step, by Gauss's rule with five points on the dense output: text over V,
 * read by balance.c and by fused units. Every rounding is written out.
 *
 * To be defined before:
 *   AG_POWER_OF               how a step is passed
 *   AG_POWER_AT(a, theta, t)  the power at the fraction theta of the step, at the time t */

/* From t over `part` of the step of size h. */
V_IN V power_over(AG_POWER_OF, V t, V h, V part) {
  static const double node[5] = {0.046910077030668004, 0.23076534494715845, 0.5, 0.7692346550528415,
                                 0.9530899229693320},
                      weight[5] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                   0.11846344252809454};
  V sum = v_set(0);
  for (int i = 0; i < 5; i++) {
    const V s = node[i] * part, power = AG_POWER_AT(a, s / h, t + s);
    sum = v_fma(v_set(weight[i]), power, sum);
  }
  return part * sum;
}
