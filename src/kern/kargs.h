/* SPDX-License-Identifier: MIT
 * The one argument of every kernel. This text is compiled into the library and embedded into generated code: it
 * includes nothing. A change of meaning or layout is a new ABI number.
 *
 * Arrays are [block][component][lane], 64-byte aligned; a block is one V of trajectories. Times and steps differ by
 * lane. The parameters and work may be one block shared by all (p_step, work_step 0) or one per block. fail: all bits
 * set in lanes where a pivot failed, others untouched. Lanes without a trajectory hold a copy of a live one. */
#ifndef AG_KERN_KARGS_H
#define AG_KERN_KARGS_H
#define AG_KERN_ABI 2
typedef struct ag_kargs {
  unsigned abi; /* AG_KERN_ABI */
  int n_block;
  const double *const *seg; /* the segments, as segment.def numbers them: [block][n][lane] each */
  double *out;              /* [block][n_out][lane] */
  unsigned long long *fail; /* [block][lane] */
  double *work;             /* prepared values, written by PREP */
  long p_step, work_step;   /* from block to block, in doubles; 0: shared */
} ag_kargs;
#endif
