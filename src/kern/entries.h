/* SPDX-License-Identifier: MIT
 * The entry points of the kernel of one tape: blocks in order, pointers stepped through the arrays. A text behind those
 * of kargs.h, vmath.h and the tape, embedded into generated code. To be defined before:
 *   AG_PREP_(p, prep, fail)              the tape's prep part
 *   AG_RUN_(k, b, prep, out, fail)       its evaluation on block b of the arguments k
 *   AG_SEGMENT_P_, AG_N_OUT_, AG_N_PREP_ the segment of the parameters; numbers of outputs and of prepared values */
void ag_kernel_prep(const ag_kargs *k) {
  const int n = k->work_step ? k->n_block : 1;
  for (int b = 0; b < n; b++) {
    VI fail = v_word_set(0);
    AG_PREP_((const V *)(k->seg[AG_SEGMENT_P_] + b * k->p_step), (V *)(k->work + b * k->work_step), &fail);
    if (!v_any(fail)) continue;
    for (int i = b; i < (k->work_step ? b + 1 : k->n_block); i++) ((VI *)k->fail)[i] |= fail;
  }
}

void ag_kernel_run(const ag_kargs *k) {
  for (long b = 0; b < k->n_block; b++) {
    VI fail = v_word_set(0);
    AG_RUN_(k, b, (const V *)(k->work + b * k->work_step), (V *)k->out + b * AG_N_OUT_, &fail);
    if (v_any(fail)) ((VI *)k->fail)[b] |= fail;
  }
}

const int ag_kernel_n_prep = AG_N_PREP_;
