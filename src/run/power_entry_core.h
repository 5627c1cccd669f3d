/* SPDX-License-Identifier: MIT
 * The entry ag_power of a fused unit: text over V, after power_flow_core.h. */

#if AG_POWER_BY_STAGES
void ag_power(const ag_fused_args *a) { *a->done = fused_integral(a->c, a->prep_power, *a->t, *a->h, a->z, a->work); }
#else
void ag_power(const ag_fused_args *a) { *a->done = power_over(a, *a->t, *a->h, *a->part); }
#endif
