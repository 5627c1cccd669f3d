/* SPDX-License-Identifier: MIT
 * The blocks of a matrix: rows and columns that its nonzero entries connect. What falls apart is solved, ranked and
 * inverted block by block, so that work grows with the blocks and not with the whole. Used by dense.c. */
#ifndef AG_MATH_BLOCKS_H
#define AG_MATH_BLOCKS_H

/* Block b has the rows row[row_at[b]] to row[row_at[b + 1] - 1], and likewise columns, both ascending. Blocks are in
 * the order of their first rows. Rows and columns of zeros belong to none. */
typedef struct ag_blocks {
  int n, *row_at, *row, *col_at, *col;
} ag_blocks;

/* Of A (m x n, row-major). */
void ag_blocks_init(ag_blocks *b, int m, int n, const double *A);
void ag_blocks_done(ag_blocks *b);
int ag_block_rows(const ag_blocks *b, int k);
int ag_block_cols(const ag_blocks *b, int k);
/* The entries of block k of A (n columns), row-major: into out. */
void ag_block_gather(const ag_blocks *b, int k, int n, const double *A, double *out);
#endif
