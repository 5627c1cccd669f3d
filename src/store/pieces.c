/* SPDX-License-Identifier: MIT
 * Lists of pieces, in memory and as bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

static void piece_done(ag_piece *piece) {
  free(piece->path);
  free(piece->data);
}

void ag_pieces_done(ag_pieces *pieces) {
  for (int i = 0; i < pieces->n; i++) piece_done(&pieces->at[i]);
  free(pieces->at);
  *pieces = (ag_pieces){0};
}

static ag_piece make(const char *path, ag_piece_kind kind, int rank, const long *dim, size_t size, const void *data) {
  ag_piece piece = {.kind = kind, .rank = rank, .size = size};
  for (int i = 0; i < rank; i++) piece.dim[i] = dim[i];
  piece.path = ag_heap_alloc(strlen(path) + 1);
  strcpy(piece.path, path);
  piece.data = ag_heap_alloc(size + 1);
  if (size) memcpy(piece.data, data, size);
  return piece;
}

ag_piece *ag_pieces_add(ag_pieces *pieces, const char *path, ag_piece_kind kind, int rank, const long *dim, size_t size,
                        const void *data) {
  AG_PUSH(pieces->at, pieces->n, pieces->cap);
  pieces->at[pieces->n] = make(path, kind, rank, dim, size, data);
  return &pieces->at[pieces->n++];
}

const ag_piece *ag_pieces_find(const ag_pieces *pieces, const char *path) {
  for (int i = 0; i < pieces->n; i++)
    if (!strcmp(pieces->at[i].path, path)) return &pieces->at[i];
  return NULL;
}

ag_piece *ag_pieces_put(ag_pieces *pieces, const char *path, ag_piece_kind kind, int rank, const long *dim, size_t size,
                        const void *data) {
  for (int i = 0; i < pieces->n; i++) {
    ag_piece *old = &pieces->at[i];
    if (strcmp(old->path, path)) continue;
    ag_piece piece = make(path, kind, rank, dim, size, data);
    piece_done(old);
    *old = piece;
    return old;
  }
  return ag_pieces_add(pieces, path, kind, rank, dim, size, data);
}

void ag_pieces_number(ag_pieces *pieces, const char *path, double v) {
  ag_pieces_put(pieces, path, AG_PIECE_NUMBER, 0, NULL, sizeof v, &v);
}

void ag_pieces_whole(ag_pieces *pieces, const char *path, long v) {
  ag_pieces_put(pieces, path, AG_PIECE_WHOLE, 0, NULL, sizeof v, &v);
}

void ag_pieces_text(ag_pieces *pieces, const char *path, const char *s) {
  ag_pieces_put(pieces, path, AG_PIECE_TEXT, 0, NULL, strlen(s) + 1, s);
}

void ag_pieces_texts(ag_pieces *pieces, const char *path, int n, const char *const *s) {
  ag_text all = {0};
  for (int i = 0; i < n; i++) ag_text_strn(&all, s[i], strlen(s[i]) + 1);
  ag_pieces_put(pieces, path, AG_PIECE_TEXT, 1, &(long){n}, all.n, all.s);
  ag_text_done(&all);
}

void ag_pieces_vector(ag_pieces *pieces, const char *path, int n, const double *v) {
  ag_pieces_put(pieces, path, AG_PIECE_NUMBER, 1, &(long){n}, sizeof *v * (size_t)n, v);
}

void ag_pieces_wholes(ag_pieces *pieces, const char *path, long n, const long *v) {
  ag_pieces_put(pieces, path, AG_PIECE_WHOLE, 1, &n, sizeof *v * (size_t)n, v);
}

void ag_pieces_drop(ag_pieces *pieces, const char *prefix) {
  ag_pieces_put(pieces, prefix, AG_PIECE_DROP, 0, NULL, 0, NULL);
}

double ag_pieces_get_number(const ag_pieces *pieces, const char *path, double otherwise) {
  const ag_piece *piece = ag_pieces_find(pieces, path);
  return piece && piece->kind == AG_PIECE_NUMBER && piece->size == sizeof(double) ? *(const double *)piece->data
                                                                                  : otherwise;
}

long ag_pieces_get_whole(const ag_pieces *pieces, const char *path, long otherwise) {
  const ag_piece *piece = ag_pieces_find(pieces, path);
  return piece && piece->kind == AG_PIECE_WHOLE && piece->size == sizeof(long) ? *(const long *)piece->data : otherwise;
}

const char *ag_pieces_get_text(const ag_pieces *pieces, const char *path, const char *otherwise) {
  const ag_piece *piece = ag_pieces_find(pieces, path);
  return piece && piece->kind == AG_PIECE_TEXT && piece->rank == 0 && piece->size ? piece->data : otherwise;
}

static void drop_prefix(ag_pieces *pieces, const char *prefix) {
  int n = 0;
  for (int i = 0; i < pieces->n; i++) {
    if (strncmp(pieces->at[i].path, prefix, strlen(prefix))) pieces->at[n++] = pieces->at[i];
    else piece_done(&pieces->at[i]);
  }
  pieces->n = n;
}

void ag_pieces_merge(ag_pieces *pieces, const ag_pieces *changes) {
  bool empty = pieces->n == 0;
  for (int i = 0; i < changes->n; i++) {
    const ag_piece *c = &changes->at[i];
    if (c->kind == AG_PIECE_DROP) drop_prefix(pieces, c->path);
    else (empty ? ag_pieces_add : ag_pieces_put)(pieces, c->path, c->kind, c->rank, c->dim, c->size, c->data);
  }
}

long ag_piece_length(const ag_piece *piece) {
  long n = 1;
  for (int i = 0; i < piece->rank; i++) n *= piece->dim[i];
  return n;
}

void ag_pieces_layout(const ag_pieces *pieces, int *n_column, int *width, int *n_event) {
  *n_column = *width = *n_event = 0;
  for (int i = 0; i < pieces->n; i++) {
    if (pieces->at[i].kind == AG_PIECE_COLUMN) ++*n_column, *width += (int)ag_piece_length(&pieces->at[i]);
    if (pieces->at[i].kind == AG_PIECE_TIMES) ++*n_event;
  }
}

typedef struct head {
  uint32_t path, kind, rank, unused;
  int64_t dim[3];
  uint64_t size;
} head;

void ag_pieces_encode(const ag_pieces *pieces, ag_text *bytes) {
  for (int i = 0; i < pieces->n; i++) {
    const ag_piece *piece = &pieces->at[i];
    head h = {(uint32_t)strlen(piece->path),
              (uint32_t)piece->kind,
              (uint32_t)piece->rank,
              0,
              {piece->dim[0], piece->dim[1], piece->dim[2]},
              piece->size};
    ag_text_strn(bytes, (const char *)&h, sizeof h);
    ag_text_strn(bytes, piece->path, h.path);
    ag_text_strn(bytes, piece->data, piece->size);
  }
}

/* Do kind, shape and bytes of an piece agree? */
static bool sound(const head *h, const char *data) {
  if (h->kind > AG_PIECE_TIMES || h->rank > (h->kind == AG_PIECE_COLUMN ? 2 : 3)) return false;
  int64_t n = 1;
  for (uint32_t i = 0; i < h->rank; i++) {
    if (h->dim[i] < 0 || h->dim[i] > 1 << 24 || (n *= h->dim[i]) > 1 << 24) return false;
  }
  uint64_t texts = 0;
  switch ((ag_piece_kind)h->kind) {
  case AG_PIECE_NUMBER: return h->size == sizeof(double) * (uint64_t)n;
  case AG_PIECE_WHOLE: return h->size == sizeof(long) * (uint64_t)n;
  case AG_PIECE_COLUMN: return h->size == 0 && n > 0;
  case AG_PIECE_TEXT:
    for (uint64_t i = 0; i < h->size; i++) texts += !data[i];
    return texts == (uint64_t)n && (!h->size || !data[h->size - 1]);
  default: return h->size == 0;
  }
}

bool ag_pieces_decode(ag_pieces *pieces, const char *bytes, size_t n) {
  bool empty = pieces->n == 0;
  for (size_t at = 0; at < n;) {
    head h;
    if (n - at < sizeof h) return false;
    memcpy(&h, bytes + at, sizeof h);
    at += sizeof h;
    if (n - at < h.path || n - at - h.path < h.size || !sound(&h, bytes + at + h.path)) return false;
    ag_text path = {0};
    ag_text_strn(&path, bytes + at, h.path);
    long dim[3] = {h.dim[0], h.dim[1], h.dim[2]};
    if (h.kind == AG_PIECE_DROP) drop_prefix(pieces, path.s);
    else
      (empty ? ag_pieces_add : ag_pieces_put)(pieces, path.s, (ag_piece_kind)h.kind, (int)h.rank, dim, h.size,
                                              bytes + at + h.path);
    ag_text_done(&path);
    at += h.path + h.size;
  }
  return true;
}
