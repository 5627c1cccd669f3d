/* SPDX-License-Identifier: MIT
 * The entries of a fused unit for one step at a time: text over V, after a stepper's text and fused_args.h. */

void ag_step(const ag_fused_args *a) {
  (void)fused_step(AG_FLOW_OF(a, a->fail) * a->t, *a->h, a->z, a->z1, a->rtol, a->atol, a->error, a->work);
}

void ag_dense(const ag_fused_args *a) { (void)fused_dense(AG_FLOW_OF(a, a->fail) * a->t, *a->h, a->z, a->z1, a->work); }

void ag_interpolate(const ag_fused_args *a) { fused_interpolate(*a->theta, a->z, a->work, a->out); }
