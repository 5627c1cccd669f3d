/* SPDX-License-Identifier: MIT
 * Writes an HDF5 file from a log, in one pass over the rows with a bounded buffer. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store_internal.h"

enum { BUFFER = 1 << 23, TIMES = 512 }; /* bytes of buffered rows; buffered times per event */

/* Buffered times of one event. */
typedef struct times {
  hid_t set;
  hsize_t at;
  int n;
  double wait[TIMES];
} times;

typedef struct writer {
  hid_t file;
  int n_column, width, n_event;
  const ag_field **columns;
  hid_t *sets;
  times *events;
  double *rows, *part;      /* buffered records; one column of them */
  long cap, n, n_row;       /* capacity of the buffer in rows; rows in it; rows written */
  long n_left, *times_left; /* still to be read from the log */
  bool good;
} writer;

/* The library must not print, nor touch its files again when the process exits: after a failed write it would crash
 * there. */
static void quiet(void) {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Texts are stored with a fixed length, that of the longest: HDF5 keeps variable-length ones in a heap without
 * checksums. */
static hid_t text_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static hid_t space_of(const ag_field *field) {
  hsize_t dim[3] = {(hsize_t)field->dim[0], (hsize_t)field->dim[1], (hsize_t)field->dim[2]};
  return field->rank ? H5Screate_simple(field->rank, dim, NULL) : H5Screate(H5S_SCALAR);
}

/* The texts of a field, each padded to *size bytes; to be freed. */
static char *padded(const ag_field *field, size_t *size) {
  long n = ag_field_length(field);
  const char *s = field->data;
  *size = 1;
  for (long i = 0; i < n; i++, s += strlen(s) + 1)
    if (strlen(s) + 1 > *size) *size = strlen(s) + 1;
  char *all = ag_heap_alloc(*size * (size_t)n + 1);
  s = field->data;
  for (long i = 0; i < n; i++, s += strlen(s) + 1) strcpy(all + (size_t)i * *size, s);
  return all;
}

/* No time stamps are stored: the same run gives the same bytes. */
static hid_t timeless(hid_t class) {
  hid_t p = H5Pcreate(class);
  H5Pset_obj_track_times(p, false);
  return p;
}

/* Creates the groups above a path, and a group for the path itself when `whole`. */
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

/* A new dataset at a path, with the groups above it. */
static hid_t new_set(hid_t file, const char *path, hid_t type, hid_t space) {
  hid_t create = timeless(H5P_DATASET_CREATE);
  make_groups(file, path, false);
  hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  return set;
}

/* The object an attribute belongs to; a group is created if there is none. */
static hid_t owner(hid_t file, const char *path) {
  if (!*path) return H5Oopen(file, "/", H5P_DEFAULT);
  hid_t object = H5Oopen(file, path, H5P_DEFAULT);
  if (object >= 0) return object;
  make_groups(file, path, true);
  return H5Oopen(file, path, H5P_DEFAULT);
}

static bool put_field(hid_t file, const ag_field *field) {
  const char *at = strchr(field->path, '@');
  bool text = field->kind == AG_FIELD_TEXT;
  size_t size = 0;
  char *strings = text ? padded(field, &size) : NULL;
  hid_t type = text ? text_type(size) : H5Tcopy(field->kind == AG_FIELD_INTEGER ? H5T_NATIVE_LONG : H5T_NATIVE_DOUBLE),
        space = space_of(field);
  const void *data = text ? strings : field->data;
  herr_t done = -1;
  if (at) {
    ag_text path = {0};
    ag_text_strn(&path, field->path, (size_t)(at - field->path));
    hid_t object = owner(file, ag_text_cstr(&path));
    hid_t attribute = H5Acreate2(object, at + 1, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) done = H5Awrite(attribute, type, data);
    H5Aclose(attribute);
    H5Oclose(object);
    ag_text_done(&path);
  } else {
    hid_t set = new_set(file, field->path, type, space);
    if (set >= 0) done = ag_field_length(field) ? H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) : 0;
    H5Dclose(set);
  }
  free(strings);
  H5Tclose(type);
  H5Sclose(space);
  return done >= 0;
}

/* A dataset with room for all rows of a column or all times of an event. */
static hid_t series(hid_t file, const ag_field *field, long n) {
  hsize_t dim[3] = {(hsize_t)n, (hsize_t)field->dim[0], (hsize_t)field->dim[1]};
  hid_t space = H5Screate_simple(field->kind == AG_FIELD_COLUMN ? field->rank + 1 : 1, dim, NULL);
  hid_t set = new_set(file, field->path, H5T_NATIVE_DOUBLE, space);
  H5Sclose(space);
  return set;
}

static bool write_part(hid_t set, hsize_t from, hsize_t n, const ag_field *field, const double *data) {
  hsize_t start[3] = {from}, count[3] = {n, field ? (hsize_t)field->dim[0] : 0, field ? (hsize_t)field->dim[1] : 0};
  int rank = field ? field->rank + 1 : 1;
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
    int length = (int)ag_field_length(w->columns[c]);
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

/* Reads one frame of the log, up to the number of rows and times announced. */
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

static void prepare(writer *w, const ag_fields *fields, const long *event_count) {
  ag_fields_layout(fields, &w->n_column, &w->width, &w->n_event);
  w->columns = ag_heap_alloc(sizeof *w->columns * (size_t)(w->n_column + 1));
  w->sets = ag_heap_alloc(sizeof *w->sets * (size_t)(w->n_column + 1));
  w->events = ag_heap_alloc(sizeof *w->events * (size_t)(w->n_event + 1));
  w->times_left = ag_heap_alloc(sizeof(long) * (size_t)(w->n_event + 1));
  int c = 0, e = 0, widest = 1;
  for (int i = 0; i < fields->n; i++) {
    const ag_field *field = &fields->at[i];
    if (field->kind == AG_FIELD_COLUMN) {
      w->columns[c] = field;
      w->sets[c] = series(w->file, field, w->n_left);
      w->good = w->good && w->sets[c++] >= 0;
      if (ag_field_length(field) > widest) widest = (int)ag_field_length(field);
    } else if (field->kind == AG_FIELD_TIMES) {
      w->times_left[e] = event_count[e];
      w->events[e].set = series(w->file, field, event_count[e]);
      w->good = w->good && w->events[e++].set >= 0;
    } else {
      w->good = w->good && put_field(w->file, field);
    }
  }
  w->cap = BUFFER / (long)sizeof(double) / (w->width + 1) + 1;
  if (w->cap > w->n_left) w->cap = w->n_left + 1;
  w->rows = ag_heap_alloc(sizeof(double) * (size_t)(w->cap * (w->width + 1)));
  w->part = ag_heap_alloc(sizeof(double) * (size_t)(w->cap * widest));
}

static void writer_done(writer *w) {
  for (int i = 0; i < w->n_column; i++) H5Dclose(w->sets[i]);
  for (int i = 0; i < w->n_event; i++) H5Dclose(w->events[i].set);
  free(w->columns);
  free(w->sets);
  free(w->events);
  free(w->times_left);
  free(w->rows);
  free(w->part);
}

/* Reserves the space first: the library recovers badly from a disk that fills up while it writes. */
static int reserve(const char *path, const ag_fields *fields, long n_row, const long *event_count) {
  int n_column, width, n_event;
  ag_fields_layout(fields, &n_column, &width, &n_event);
  size_t size = sizeof(double) * (size_t)n_row * (size_t)width + 384 * (size_t)fields->n + (1 << 13);
  for (int i = 0; i < n_event; i++) size += sizeof(double) * (size_t)event_count[i];
  for (int i = 0; i < fields->n; i++) size += 2 * fields->at[i].size;
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), trouble;
  if (fd < 0) return errno;
  do trouble = posix_fallocate(fd, 0, (off_t)size);
  while (trouble == EINTR);
  if (close(fd) && !trouble) trouble = errno;
  return trouble;
}

/* Forces the file to disk before it is renamed. */
static int sync_file(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC), trouble = fd < 0 || fsync(fd) ? errno : 0;
  if (fd >= 0) close(fd);
  return trouble == EINVAL || trouble == EROFS ? 0 : trouble; /* file systems without fsync */
}

bool ag_h5_write(const char *path, const ag_fields *fields, long n_row, const long *event_count, int log,
                 int *trouble) {
  quiet();
  *trouble = reserve(path, fields, n_row, event_count);
  if (*trouble) return false;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_locking(access, false, true); /* does not work on every file system; the log is locked instead */
  H5Pset_libver_bounds(access, H5F_LIBVER_V18,
                       H5F_LIBVER_V18); /* the first format whose own structures carry checksums */
  errno = 0;
  hid_t create = timeless(H5P_FILE_CREATE);
  writer w = {.file = H5Fcreate(path, H5F_ACC_TRUNC, create, access), .n_left = n_row};
  w.good = w.file >= 0;
  H5Pclose(access);
  H5Pclose(create);
  if (w.good) {
    prepare(&w, fields, event_count);
    if (w.good) (void)ag_log_scan(log, take, &w);
    flush_rows(&w);
    for (int i = 0; i < w.n_event; i++) flush_times(&w, &w.events[i]);
    w.good = w.good && !w.n_left;
    writer_done(&w);
    w.good = H5Fclose(w.file) >= 0 && w.good;
  }
  if (!w.good) *trouble = errno ? errno : EIO;
  else *trouble = sync_file(path);
  return !*trouble;
}
