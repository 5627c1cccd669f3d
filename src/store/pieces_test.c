/* SPDX-License-Identifier: MIT
 * Pieces: replace, drop, encode and decode; bytes that are no pieces are refused. */
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static void fill(ag_pieces *pieces) {
  ag_pieces_number(pieces, "/options@t1", 0.1);
  ag_pieces_whole(pieces, "@format", 1);
  ag_pieces_text(pieces, "/model", "model x\n");
  ag_pieces_texts(pieces, "/options/set", 2, (const char *const[]){"m=2", ""});
  ag_pieces_vector(pieces, "/checkpoint/z", 3, (const double[]){1, 2, 3});
  ag_pieces_vector(pieces, "/checkpoint/c", 0, NULL);
  ag_pieces_add(pieces, "/state/R", AG_PIECE_COLUMN, 2, (const long[]){3, 3}, 0, NULL);
  ag_pieces_add(pieces, "/events/hit", AG_PIECE_TIMES, 0, NULL, 0, NULL);
}

static void check_filled(const ag_pieces *pieces) {
  AG_CHECK(pieces->n == 8);
  AG_CHECK(ag_pieces_get_number(pieces, "/options@t1", 7) == 0.1);
  AG_CHECK(ag_pieces_get_whole(pieces, "@format", 7) == 1);
  AG_CHECK_STR(ag_pieces_get_text(pieces, "/model", ""), "model x\n");
  AG_CHECK(ag_pieces_get_number(pieces, "@format", 7) == 7); /* another kind */
  AG_CHECK(ag_pieces_get_text(pieces, "/options/set", NULL) == NULL);
  const ag_piece *set = ag_pieces_find(pieces, "/options/set"), *z = ag_pieces_find(pieces, "/checkpoint/z");
  AG_CHECK(set && set->size == 5 && !memcmp(set->data, "m=2\0", 5));
  AG_CHECK(z && ag_piece_length(z) == 3 && ((const double *)z->data)[2] == 3);
  int n_column, width, n_event;
  ag_pieces_layout(pieces, &n_column, &width, &n_event);
  AG_CHECK(n_column == 1 && width == 9 && n_event == 1);
}

int main(void) {
  ag_pieces a = {0}, b = {0}, change = {0};
  ag_text bytes = {0};
  fill(&a);
  fill(&a); /* replaces, but for the two that were added */
  AG_CHECK(a.n == 10);
  ag_pieces_done(&a);
  fill(&a);
  check_filled(&a);
  ag_pieces_encode(&a, &bytes);
  AG_CHECK(ag_pieces_decode(&b, bytes.s, bytes.n));
  check_filled(&b);
  ag_pieces_drop(&change, "/checkpoint");
  ag_pieces_number(&change, "/options@t1", 5);
  ag_pieces_merge(&b, &change);
  AG_CHECK(b.n == 6 && !ag_pieces_find(&b, "/checkpoint/z") && ag_pieces_get_number(&b, "/options@t1", 0) == 5);
  int refused = 0;
  for (size_t n = 0; n < bytes.n; n++) { /* every beginning of it: whole pieces or refused, never read beyond */
    char *copy = malloc(n + 1);
    memcpy(copy, bytes.s, n);
    ag_pieces c = {0};
    refused += !ag_pieces_decode(&c, copy, n);
    AG_CHECK(c.n <= 8);
    ag_pieces_done(&c);
    free(copy);
  }
  AG_CHECK(refused == (int)bytes.n - 8);
  for (size_t i = 0; i < bytes.n; i++) { /* no byte changed makes it crash */
    bytes.s[i] = (char)(bytes.s[i] ^ 0x55);
    ag_pieces c = {0};
    (void)ag_pieces_decode(&c, bytes.s, bytes.n);
    ag_pieces_done(&c);
    bytes.s[i] = (char)(bytes.s[i] ^ 0x55);
  }
  ag_pieces_done(&a);
  ag_pieces_done(&b);
  ag_pieces_done(&change);
  ag_text_done(&bytes);
  return ag_check_report();
}
