/* SPDX-License-Identifier: MIT
 * The entry ag_power of a fused unit: text over V, after power_core.h. */

void ag_power(const ag_fused_args *a) { *a->done = power_over(a, *a->t, *a->h, *a->part); }
