/* SPDX-License-Identifier: MIT
 * Writes an HDF5 file from a log, in one pass over the rows with a bounded buffer. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store_internal.h"

enum { BUFFER = 1 << 23, TIMES = 512 }; /* bytes of buffered rows; buffered times per event */
enum { CHUNK = 1 << 13, LEVEL = 4 }; /* a compressed series: rows that are packed together at most; level of deflate */

/* Buffered times of one event. */
typedef struct times {
  hid_t set;
  hsize_t at;
  int n;
  double wait[TIMES];
} times;

typedef struct writer {
  hid_t file;
  const ag_log_content *c;
  int log, n_column;
  const ag_field **columns;
  hid_t *sets;
  hid_t owner[2]; /* of points: /member and /crossing; else -1 */
  times *events;
  double *rows, *part; /* buffered records; one column of them */
  long cap;            /* of the buffer, in rows */
  long chunk;          /* rows of a series that are packed together; 0: nothing is compressed */
  bool good;
} writer;

/* Texts are stored with a fixed length, that of the longest: HDF5 keeps variable-length ones in a heap without
 * checksums. */
static hid_t text_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
    H5Tclose(type);
    return -1;
  }
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
  if (p >= 0 && H5Pset_obj_track_times(p, false) < 0) {
    H5Pclose(p);
    return -1;
  }
  return p;
}

/* Creates the groups above a path, and a group for the path itself when `whole`. */
static bool make_groups(hid_t file, const char *path, bool whole) {
  hid_t create = timeless(H5P_GROUP_CREATE);
  bool good = create >= 0;
  for (const char *slash = strchr(path + 1, '/'); good; slash = strchr(slash + 1, '/')) {
    if (!slash && !whole) break;
    ag_text part = {0};
    ag_text_strn(&part, path, slash ? (size_t)(slash - path) : strlen(path));
    htri_t there = H5Lexists(file, part.s, H5P_DEFAULT);
    good = there >= 0;
    if (there == 0) {
      hid_t group = H5Gcreate2(file, part.s, H5P_DEFAULT, create, H5P_DEFAULT);
      good = group >= 0 && H5Gclose(group) >= 0;
    }
    ag_text_done(&part);
    if (!slash) break;
  }
  if (create >= 0) H5Pclose(create);
  return good;
}

/* A new dataset at a path, with the groups above it. chunk: NULL, or the shape of the pieces that are compressed: the
 * first bytes of all their numbers, then the second ones, ... (neighbours have similar exponents), by deflate. It
 * stores a checksum of each. What is written are whole pieces, so that nothing is kept in a cache. */
static hid_t new_set(hid_t file, const char *path, hid_t type, hid_t space, const hsize_t *chunk) {
  hid_t create = timeless(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS), set = -1;
  bool good = create >= 0 && access >= 0 && type >= 0 && space >= 0 && make_groups(file, path, false);
  if (good && chunk)
    good = H5Pset_chunk(create, H5Sget_simple_extent_ndims(space), chunk) >= 0 && H5Pset_shuffle(create) >= 0 &&
           H5Pset_deflate(create, LEVEL) >= 0 && H5Pset_chunk_cache(access, 1, 0, 1) >= 0;
  if (good) set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, create, access);
  if (create >= 0) H5Pclose(create);
  if (access >= 0) H5Pclose(access);
  return set;
}

/* The object an attribute belongs to; a group is created if there is none. */
static hid_t owner(hid_t file, const char *path) {
  if (!*path) return H5Oopen(file, "/", H5P_DEFAULT);
  return make_groups(file, path, true) ? H5Oopen(file, path, H5P_DEFAULT) : -1;
}

static bool put_attribute(hid_t file, const ag_field *field, const char *at, hid_t type, hid_t space,
                          const void *data) {
  ag_text path = {0};
  ag_text_strn(&path, field->path, (size_t)(at - field->path));
  hid_t object = owner(file, ag_text_cstr(&path)), attribute = -1;
  if (object >= 0) attribute = H5Acreate2(object, at + 1, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
  if (attribute >= 0) good = H5Aclose(attribute) >= 0 && good;
  if (object >= 0) good = H5Oclose(object) >= 0 && good;
  ag_text_done(&path);
  return good;
}

static bool put_set(hid_t file, const ag_field *field, hid_t type, hid_t space, const void *data) {
  hid_t set = new_set(file, field->path, type, space, NULL);
  bool good = set >= 0;
  if (good && ag_field_length(field)) good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (set >= 0) good = H5Dclose(set) >= 0 && good;
  return good;
}

static bool put_field(hid_t file, const ag_field *field) {
  const char *at = strchr(field->path, '@');
  bool text = field->kind == AG_FIELD_TEXT;
  size_t size = 0;
  char *strings = text ? padded(field, &size) : NULL;
  hid_t type = text ? text_type(size) : H5Tcopy(field->kind == AG_FIELD_INTEGER ? H5T_NATIVE_LONG : H5T_NATIVE_DOUBLE),
        space = space_of(field);
  const void *data = text ? strings : field->data;
  bool good = type >= 0 && space >= 0;
  if (good) good = at ? put_attribute(file, field, at, type, space, data) : put_set(file, field, type, space, data);
  free(strings);
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  return good;
}

/* A dataset with room for all rows of a column or all times of an event; `rows` of them are compressed together. */
static hid_t series(const writer *w, const char *path, int rank, long n, const long *shape, hid_t type, long rows) {
  hsize_t dim[3] = {(hsize_t)n, rank > 1 ? (hsize_t)shape[0] : 0, rank > 2 ? (hsize_t)shape[1] : 0};
  hsize_t chunk[3] = {(hsize_t)(rows < n ? rows : n), dim[1], dim[2]};
  hid_t space = H5Screate_simple(rank, dim, NULL);
  hid_t set = new_set(w->file, path, type, space, w->chunk && n ? chunk : NULL);
  if (space >= 0) H5Sclose(space);
  return set;
}

static bool write_part(hid_t set, hid_t type, hsize_t from, hsize_t n, const ag_field *field, const void *data) {
  hsize_t start[3] = {from}, count[3] = {n, field ? (hsize_t)field->dim[0] : 0, field ? (hsize_t)field->dim[1] : 0};
  hid_t space = H5Dget_space(set), memory = H5Screate_simple(field ? field->rank + 1 : 1, count, NULL);
  bool good = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dwrite(set, type, memory, space, H5P_DEFAULT, data) >= 0;
  if (space >= 0) H5Sclose(space);
  if (memory >= 0) H5Sclose(memory);
  return good;
}

/* ---- rows ---- */

/* Of the rows from..from + n: their members and crossing numbers. */
static void put_owners(writer *w, long from, long n) {
  long *member = (long *)w->part, *crossing = member + n, done = 0;
  for (int i = 0; i < w->c->n_part && done < n; i++) {
    const ag_log_part *p = &w->c->parts[i];
    for (long k = from + done - p->start; k >= 0 && k < p->n && done < n; k++) {
      member[done] = p->member + 1;
      crossing[done++] = p->first + k + 1;
    }
  }
  for (int i = 0; i < 2; i++)
    w->good = w->good &&
              write_part(w->owner[i], H5T_NATIVE_LONG, (hsize_t)from, (hsize_t)n, NULL, i ? crossing : member);
}

static void put_rows(writer *w) {
  const ag_log_content *c = w->c;
  for (long from = 0, n; from < c->n_row && w->good; from += n) {
    n = c->n_row - from < w->cap ? c->n_row - from : w->cap;
    w->good = ag_log_rows(w->log, c, from, n, w->rows);
    int offset = 0;
    for (int k = 0; k < w->n_column && w->good; k++) {
      int length = (int)ag_field_length(w->columns[k]);
      for (long i = 0; i < n; i++)
        memcpy(w->part + i * length, w->rows + i * c->width + offset, sizeof(double) * (size_t)length);
      w->good = write_part(w->sets[k], H5T_NATIVE_DOUBLE, (hsize_t)from, (hsize_t)n, w->columns[k], w->part);
      offset += length;
    }
    if (w->owner[0] >= 0) put_owners(w, from, n);
  }
}

static void flush_times(writer *w, times *e) {
  if (e->n) w->good = w->good && write_part(e->set, H5T_NATIVE_DOUBLE, e->at, (hsize_t)e->n, NULL, e->wait);
  e->at += (hsize_t)e->n;
  e->n = 0;
}

static void put_times(writer *w) {
  double pairs[2 * TIMES];
  for (int i = 0; i < w->c->n_pairs && w->good; i++)
    for (long done = 0; done < w->c->pairs[i].n && w->good;) {
      long n = w->c->pairs[i].n - done < TIMES ? w->c->pairs[i].n - done : TIMES;
      size_t size = sizeof(double) * 2 * (size_t)n;
      w->good = ag_file_read_at(w->log, pairs, size, w->c->pairs[i].at + 16 * (off_t)done) == size;
      for (long k = 0; k < n && w->good; k++) {
        times *e = &w->events[(int)pairs[2 * k]];
        e->wait[e->n++] = pairs[2 * k + 1];
        if (e->n == TIMES) flush_times(w, e);
      }
      done += n;
    }
  for (int i = 0; i < w->c->n_event; i++) flush_times(w, &w->events[i]);
}

/* ---- the file ---- */

/* So many rows are written at a time; of a compressed file whole pieces. */
static void size_buffers(writer *w, int width) {
  w->cap = BUFFER / (long)sizeof(double) / (width + 1) + 1;
  if (w->cap > w->c->n_row) w->cap = w->c->n_row + 1;
  if (!ag_store_compressed(&w->c->fields)) return;
  w->chunk = w->cap < CHUNK ? w->cap : CHUNK;
  w->cap -= w->cap % w->chunk;
}

static void prepare(writer *w) {
  const ag_fields *fields = &w->c->fields;
  int width, n_event, c = 0, e = 0, widest = 2;
  AG_ASSERT(ag_fields_layout(fields, &w->n_column, &width, &n_event));
  size_buffers(w, width);
  w->columns = ag_heap_alloc(sizeof *w->columns * (size_t)(w->n_column + 1));
  w->sets = ag_heap_alloc(sizeof *w->sets * (size_t)(w->n_column + 1));
  w->events = ag_heap_alloc(sizeof *w->events * (size_t)(n_event + 1));
  for (int i = 0; i < w->n_column; i++) w->sets[i] = -1;
  for (int i = 0; i < n_event; i++) w->events[i].set = -1;
  for (int i = 0; i < fields->n && w->good; i++) {
    const ag_field *field = &fields->at[i];
    if (field->kind == AG_FIELD_COLUMN) {
      w->columns[c] = field;
      w->sets[c] = series(w, field->path, field->rank + 1, w->c->n_row, field->dim, H5T_NATIVE_DOUBLE, w->chunk);
      w->good = w->sets[c++] >= 0;
      if (ag_field_length(field) > widest) widest = (int)ag_field_length(field);
    } else if (field->kind == AG_FIELD_TIMES) {
      w->events[e].set = series(w, field->path, 1, w->c->event_count[e], NULL, H5T_NATIVE_DOUBLE, TIMES);
      w->good = w->events[e++].set >= 0;
    } else {
      w->good = put_field(w->file, field);
    }
  }
  for (int i = 0; i < 2 && w->c->points && w->good; i++) {
    w->owner[i] = series(w, i ? "/crossing" : "/member", 1, w->c->n_row, NULL, H5T_NATIVE_LONG, w->chunk);
    w->good = w->owner[i] >= 0;
  }
  w->rows = ag_heap_alloc(sizeof(double) * (size_t)(w->cap * (width + 1)));
  w->part = ag_heap_alloc(sizeof(double) * (size_t)(w->cap * widest));
}

static void close_set(writer *w, hid_t set) {
  if (set >= 0 && H5Dclose(set) < 0) w->good = false;
}

static void writer_done(writer *w) {
  for (int i = 0; i < w->n_column; i++) close_set(w, w->sets[i]);
  for (int i = 0; i < w->c->n_event; i++) close_set(w, w->events[i].set);
  for (int i = 0; i < 2; i++) close_set(w, w->owner[i]);
  free(w->columns);
  free(w->sets);
  free(w->events);
  free(w->rows);
  free(w->part);
}

/* Asks for the space first: the library recovers badly from a disk that fills up while it writes. What compression
 * saves is not known yet, but the overhead of its last pieces and their index is. */
static bool reserve(int fd, const ag_log_content *c) {
  size_t size = sizeof(double) * (size_t)c->n_row * (size_t)(c->width + 2) + 384 * (size_t)c->fields.n + (1 << 13);
  for (int i = 0; i < c->n_event; i++) size += sizeof(double) * (size_t)c->event_count[i];
  for (int i = 0; i < c->fields.n; i++) size += 2 * c->fields.at[i].size;
  if (ag_store_compressed(&c->fields)) {
    size_t pieces = (size_t)c->n_row / CHUNK + 2, edge = sizeof(double) * (c->n_row < CHUNK ? 0 : CHUNK);
    size += (size_t)(c->width + 2) * (edge + 32 * pieces) + (1 << 12) * (size_t)c->fields.n;
    for (int i = 0; i < c->n_event; i++) size += (size_t)c->event_count[i] / TIMES * 32 + sizeof(double) * TIMES;
  }
  return ag_file_reserve(fd, (off_t)size);
}

/* The file that is open as fd, by a name under which nobody can put another one. */
static hid_t create_file(const char *path, int fd, bool compressed) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = timeless(H5P_FILE_CREATE), file = -1;
  char same[40];
  snprintf(same, sizeof same, "/proc/self/fd/%d", fd);
  /* locking does not work on every file system, the log is locked instead; the first format whose own structures carry
   * checksums, those of compressed series included */
  H5F_libver_t format = compressed ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
  if (access >= 0 && create >= 0 && H5Pset_file_locking(access, false, true) >= 0 &&
      H5Pset_libver_bounds(access, format, format) >= 0)
    file = H5Fcreate(faccessat(AT_FDCWD, same, W_OK, 0) ? path : same, H5F_ACC_TRUNC, create, access);
  if (access >= 0) H5Pclose(access);
  if (create >= 0) H5Pclose(create);
  return file;
}

bool ag_h5_file_write(const char *path, int fd, const ag_log_content *c, int log, int *trouble) {
  *trouble = 0;
  if (!reserve(fd, c)) {
    *trouble = errno;
    return false;
  }
  errno = 0;
  writer w = {.file = create_file(path, fd, ag_store_compressed(&c->fields)), .c = c, .log = log, .owner = {-1, -1}};
  w.good = w.file >= 0;
  if (w.good) {
    prepare(&w);
    if (w.good) put_rows(&w);
    if (w.good) put_times(&w);
    if (!w.good) *trouble = errno;
    writer_done(&w);
    w.good = H5Fclose(w.file) >= 0 && w.good;
  }
  if (w.good && ag_file_sync(fd)) return true;
  if (!*trouble) *trouble = errno ? errno : EIO;
  return false;
}
