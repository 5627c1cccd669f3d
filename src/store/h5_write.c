/* SPDX-License-Identifier: MIT
 * From a log to an HDF5 file, in one pass over the rows with a bounded buffer. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store_internal.h"

enum { BUFFER = 1 << 23, TIMES = 512 }; /* bytes of rows; times of one event that wait */

/* The times of one event on their way. */
typedef struct times {
  hid_t set;
  hsize_t at;
  int n;
  double wait[TIMES];
} times;

typedef struct writer {
  hid_t file;
  int n_column, width, n_event;
  const ag_piece **columns;
  hid_t *sets;
  times *events;
  double *rows, *part;      /* buffered records; one column of them */
  long cap, n, n_row;       /* rows of the buffer; in it; written */
  long n_left, *times_left; /* still wanted */
  bool good;
} writer;

/* The library must not print, nor touch its files again at the end of the process: after a write that failed it would
 * crash there. */
static void quiet(void) {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Texts are stored with one length, which is that of the longest: those of free length live in a heap without
 * checksums. */
static hid_t text_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static hid_t space_of(const ag_piece *piece) {
  hsize_t dim[3] = {(hsize_t)piece->dim[0], (hsize_t)piece->dim[1], (hsize_t)piece->dim[2]};
  return piece->rank ? H5Screate_simple(piece->rank, dim, NULL) : H5Screate(H5S_SCALAR);
}

/* The texts of a piece, each padded to *size bytes; to be freed. */
static char *padded(const ag_piece *piece, size_t *size) {
  long n = ag_piece_length(piece);
  const char *s = piece->data;
  *size = 1;
  for (long i = 0; i < n; i++, s += strlen(s) + 1)
    if (strlen(s) + 1 > *size) *size = strlen(s) + 1;
  char *all = ag_heap_alloc(*size * (size_t)n + 1);
  s = piece->data;
  for (long i = 0; i < n; i++, s += strlen(s) + 1) strcpy(all + (size_t)i * *size, s);
  return all;
}

/* No times are kept: the same run gives the same bytes. */
static hid_t timeless(hid_t class) {
  hid_t p = H5Pcreate(class);
  H5Pset_obj_track_times(p, false);
  return p;
}

/* The groups on the way to a path, the last part of it too when `whole`. */
static void make_groups(hid_t file, const char *path, bool whole) {
  hid_t create = timeless(H5P_GROUP_CREATE);
  for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (!slash && !whole) break;
    ag_text part = {0};
    ag_text_strn(&part, path, slash ? (size_t)(slash - path) : strlen(path));
    if (H5Lexists(file, part.s, H5P_DEFAULT) <= 0) H5Gclose(H5Gcreate2(file, part.s, H5P_DEFAULT, create, H5P_DEFAULT));
    ag_text_done(&part);
    if (!slash) break;
  }
  H5Pclose(create);
}

/* A dataset at a path, its groups made on the way. */
static hid_t new_set(hid_t file, const char *path, hid_t type, hid_t space) {
  hid_t create = timeless(H5P_DATASET_CREATE);
  make_groups(file, path, false);
  hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  return set;
}

/* The object an attribute belongs to; a group is made when there is none. */
static hid_t owner(hid_t file, const char *path) {
  if (!*path) return H5Oopen(file, "/", H5P_DEFAULT);
  hid_t object = H5Oopen(file, path, H5P_DEFAULT);
  if (object >= 0) return object;
  make_groups(file, path, true);
  return H5Oopen(file, path, H5P_DEFAULT);
}

static bool put_piece(hid_t file, const ag_piece *piece) {
  const char *at = strchr(piece->path, '@');
  bool text = piece->kind == AG_PIECE_TEXT;
  size_t size = 0;
  char *strings = text ? padded(piece, &size) : NULL;
  hid_t type = text ? text_type(size) : H5Tcopy(piece->kind == AG_PIECE_WHOLE ? H5T_NATIVE_LONG : H5T_NATIVE_DOUBLE),
        space = space_of(piece);
  const void *data = text ? strings : piece->data;
  herr_t done = -1;
  if (at) {
    ag_text path = {0};
    ag_text_strn(&path, piece->path, (size_t)(at - piece->path));
    hid_t object = owner(file, ag_text_cstr(&path));
    hid_t attribute = H5Acreate2(object, at + 1, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) done = H5Awrite(attribute, type, data);
    H5Aclose(attribute);
    H5Oclose(object);
    ag_text_done(&path);
  } else {
    hid_t set = new_set(file, piece->path, type, space);
    if (set >= 0) done = ag_piece_length(piece) ? H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) : 0;
    H5Dclose(set);
  }
  free(strings);
  H5Tclose(type);
  H5Sclose(space);
  return done >= 0;
}

/* Room for all rows of a column, or all times of an event. */
static hid_t series(hid_t file, const ag_piece *piece, long n) {
  hsize_t dim[3] = {(hsize_t)n, (hsize_t)piece->dim[0], (hsize_t)piece->dim[1]};
  hid_t space = H5Screate_simple(piece->kind == AG_PIECE_COLUMN ? piece->rank + 1 : 1, dim, NULL);
  hid_t set = new_set(file, piece->path, H5T_NATIVE_DOUBLE, space);
  H5Sclose(space);
  return set;
}

static bool write_part(hid_t set, hsize_t from, hsize_t n, const ag_piece *piece, const double *data) {
  hsize_t start[3] = {from}, count[3] = {n, piece ? (hsize_t)piece->dim[0] : 0, piece ? (hsize_t)piece->dim[1] : 0};
  int rank = piece ? piece->rank + 1 : 1;
  hid_t space = H5Dget_space(set), memory = H5Screate_simple(rank, count, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  herr_t done = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data);
  H5Sclose(space);
  H5Sclose(memory);
  return done >= 0;
}

static void flush_rows(writer *w) {
  int offset = 0;
  for (int c = 0; c < w->n_column && w->n; c++) {
    int length = (int)ag_piece_length(w->columns[c]);
    for (long i = 0; i < w->n; i++)
      memcpy(w->part + i * length, w->rows + i * w->width + offset, sizeof(double) * (size_t)length);
    w->good = w->good && write_part(w->sets[c], (hsize_t)w->n_row, (hsize_t)w->n, w->columns[c], w->part);
    offset += length;
  }
  w->n_row += w->n;
  w->n = 0;
}

static void flush_times(writer *w, times *e) {
  if (e->n) w->good = w->good && write_part(e->set, e->at, (hsize_t)e->n, NULL, e->wait);
  e->at += (hsize_t)e->n;
  e->n = 0;
}

/* A frame of the log: no more is taken than there is room for. */
static bool take(void *self, int kind, const char *payload, size_t size) {
  writer *w = self;
  size_t record = sizeof(double) * (size_t)w->width;
  for (size_t i = 0; kind == AG_FRAME_ROWS && i + record <= size && w->n_left; i += record, w->n_left--) {
    memcpy(w->rows + w->n++ * w->width, payload + i, record);
    if (w->n == w->cap) flush_rows(w);
  }
  double pair[2];
  for (size_t i = 0; kind == AG_FRAME_EVENTS && i + sizeof pair <= size; i += sizeof pair) {
    memcpy(pair, payload + i, sizeof pair);
    int e = (int)pair[0];
    if (e < 0 || e >= w->n_event || !w->times_left[e]) continue;
    w->times_left[e]--;
    w->events[e].wait[w->events[e].n++] = pair[1];
    if (w->events[e].n == TIMES) flush_times(w, &w->events[e]);
  }
  return w->good;
}

static void prepare(writer *w, const ag_pieces *pieces, const long *event_count) {
  ag_pieces_layout(pieces, &w->n_column, &w->width, &w->n_event);
  w->columns = ag_heap_alloc(sizeof *w->columns * (size_t)(w->n_column + 1));
  w->sets = ag_heap_alloc(sizeof *w->sets * (size_t)(w->n_column + 1));
  w->events = ag_heap_alloc(sizeof *w->events * (size_t)(w->n_event + 1));
  w->times_left = ag_heap_alloc(sizeof(long) * (size_t)(w->n_event + 1));
  int c = 0, e = 0, widest = 1;
  for (int i = 0; i < pieces->n; i++) {
    const ag_piece *piece = &pieces->at[i];
    if (piece->kind == AG_PIECE_COLUMN) {
      w->columns[c] = piece;
      w->sets[c] = series(w->file, piece, w->n_left);
      w->good = w->good && w->sets[c++] >= 0;
      if (ag_piece_length(piece) > widest) widest = (int)ag_piece_length(piece);
    } else if (piece->kind == AG_PIECE_TIMES) {
      w->times_left[e] = event_count[e];
      w->events[e].set = series(w->file, piece, event_count[e]);
      w->good = w->good && w->events[e++].set >= 0;
    } else {
      w->good = w->good && put_piece(w->file, piece);
    }
  }
  w->cap = BUFFER / (long)sizeof(double) / (w->width + 1) + 1;
  if (w->cap > w->n_left) w->cap = w->n_left + 1;
  w->rows = ag_heap_alloc(sizeof(double) * (size_t)(w->cap * (w->width + 1)));
  w->part = ag_heap_alloc(sizeof(double) * (size_t)(w->cap * widest));
}

static void dismiss(writer *w) {
  for (int i = 0; i < w->n_column; i++) H5Dclose(w->sets[i]);
  for (int i = 0; i < w->n_event; i++) H5Dclose(w->events[i].set);
  free(w->columns);
  free(w->sets);
  free(w->events);
  free(w->times_left);
  free(w->rows);
  free(w->part);
}

/* Is there room? The library recovers badly from a disk that fills up while it writes, so the space is asked for first.
 */
static int reserve(const char *path, const ag_pieces *pieces, long n_row, const long *event_count) {
  int n_column, width, n_event;
  ag_pieces_layout(pieces, &n_column, &width, &n_event);
  size_t size = sizeof(double) * (size_t)n_row * (size_t)width + 384 * (size_t)pieces->n + (1 << 13);
  for (int i = 0; i < n_event; i++) size += sizeof(double) * (size_t)event_count[i];
  for (int i = 0; i < pieces->n; i++) size += 2 * pieces->at[i].size;
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), trouble;
  if (fd < 0) return errno;
  do trouble = posix_fallocate(fd, 0, (off_t)size);
  while (trouble == EINTR);
  if (close(fd) && !trouble) trouble = errno;
  return trouble;
}

/* The file reaches the disk before its name is changed. */
static int settle(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC), trouble = fd < 0 || fsync(fd) ? errno : 0;
  if (fd >= 0) close(fd);
  return trouble == EINVAL || trouble == EROFS ? 0 : trouble; /* a file system that has no such thing */
}

bool ag_h5_write(const char *path, const ag_pieces *pieces, long n_row, const long *event_count, int log,
                 int *trouble) {
  quiet();
  *trouble = reserve(path, pieces, n_row, event_count);
  if (*trouble) return false;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_locking(access, false, true); /* not on every file system; the log is locked instead */
  H5Pset_libver_bounds(access, H5F_LIBVER_V18,
                       H5F_LIBVER_V18); /* the first format whose own structures carry checksums */
  errno = 0;
  hid_t create = timeless(H5P_FILE_CREATE);
  writer w = {.file = H5Fcreate(path, H5F_ACC_TRUNC, create, access), .n_left = n_row};
  w.good = w.file >= 0;
  H5Pclose(access);
  H5Pclose(create);
  if (w.good) {
    prepare(&w, pieces, event_count);
    if (w.good) (void)ag_log_scan(log, take, &w);
    flush_rows(&w);
    for (int i = 0; i < w.n_event; i++) flush_times(&w, &w.events[i]);
    w.good = w.good && !w.n_left;
    dismiss(&w);
    w.good = H5Fclose(w.file) >= 0 && w.good;
  }
  if (!w.good) *trouble = errno ? errno : EIO;
  else *trouble = settle(path);
  return !*trouble;
}
