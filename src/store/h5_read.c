/* SPDX-License-Identifier: MIT
 * Reads HDF5 files back into fields and rows. Nothing about the file is taken for granted: a damaged one may claim any
 * size and shape. */
#include <errno.h>
#include <hdf5.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "store/store_internal.h"

/* Number of fields, length of a path, entries of one value. What is kept in memory is bounded by the size of the file:
 * our own data is neither packed nor shared, that of users who repacked a file somewhat. Rows are read piece by piece;
 * deflate makes of them 1/1032 at best. */
enum {
  MAX_FIELDS = 1 << 20,
  MAX_PATH = 1 << 12,
  MAX_SIDE = 1 << 20,
  MAX_WIDTH = 1 << 24,
  PACKED = 64,
  DEFLATED = 1032,
  SLACK = 1 << 20
};

struct ag_h5_file {
  hid_t file;
  off_t size;
};

typedef struct reader {
  ag_fields loose; /* in the order of the file */
  int n_found, cap_found;
  struct {
    int field;
    long place, n;
  } * found;
  hssize_t room; /* bytes that may still be read */
  hsize_t rows;  /* that such a file can have */
  bool good;
  bool outside;   /* some data is in other files */
  bool exhausted; /* memory ran out in a visit; why: the reason */
  char why[AG_HEAP_WHY];
} reader;

/* One object or attribute that the library shows us. It must not be jumped over: each visit has a guard of its own,
 * ends the iteration, and the failure is passed on when the library has returned. */
typedef struct visit {
  reader *r;
  hid_t in;
  const char *name, *path; /* path: of the object an attribute belongs to */
  bool set;                /* is the object a dataset? */
} visit;

static herr_t guarded(visit v, void (*call)(void *self)) {
  if (!ag_heap_try(ag_heap_current(), call, &v, v.r->why)) v.r->exhausted = true;
  return v.r->exhausted ? 1 : 0; /* an end, not an error: the library has leaks where it handles errors */
}

static ag_field_kind kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
  case H5T_FLOAT: return AG_FIELD_NUMBER;
  case H5T_INTEGER: return AG_FIELD_INTEGER;
  case H5T_STRING: return H5Tis_variable_str(type) == 0 ? AG_FIELD_TEXT : AG_FIELD_DROP;
  default: return AG_FIELD_DROP;
  }
}

/* Reads n values of an attribute or dataset and adds them to the list. */
static bool load_values(reader *r, const char *path, hid_t id, bool attribute, ag_field_kind kind, hid_t type, int rank,
                        const long *size, hssize_t n) {
  hid_t memory = H5Tcopy(kind == AG_FIELD_NUMBER    ? H5T_NATIVE_DOUBLE
                         : kind == AG_FIELD_INTEGER ? H5T_NATIVE_LONG
                                                    : type);
  size_t one = memory >= 0 ? H5Tget_size(memory) : 0;
  if (!one || n > r->room / (hssize_t)(one + 8)) { /* more than such a file can hold: not ours, or damaged */
    if (memory >= 0) H5Tclose(memory);
    return one != 0;
  }
  r->room -= n * (hssize_t)(one + 8);
  char *data = ag_heap_alloc(one * (size_t)n + 1);
  herr_t done = n == 0      ? 0
                : attribute ? H5Aread(id, memory, data)
                            : H5Dread(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  if (done >= 0 && kind == AG_FIELD_TEXT) {
    ag_text all = {0};
    for (hssize_t i = 0; i < n; i++) {
      ag_text_strn(&all, data + (size_t)i * one, strnlen(data + (size_t)i * one, one));
      ag_text_char(&all, 0);
    }
    ag_fields_add(&r->loose, path, kind, rank, size, all.n, all.s);
    ag_text_done(&all);
  } else if (done >= 0) {
    ag_fields_add(&r->loose, path, kind, rank, size, one * (size_t)n, data);
  }
  free(data);
  H5Tclose(memory);
  return done >= 0;
}

/* Adds an attribute or dataset of at most three dimensions to the list; others are skipped, and those with an empty
 * side behind the first. */
static void load(reader *r, const char *path, hid_t id, bool attribute) {
  hid_t type = attribute ? H5Aget_type(id) : H5Dget_type(id), space = attribute ? H5Aget_space(id) : H5Dget_space(id);
  if (type >= 0 && space >= 0) {
    ag_field_kind kind = kind_of(type);
    hsize_t dim[H5S_MAX_RANK] = {0};
    int rank = H5Sget_simple_extent_ndims(space);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    if (kind != AG_FIELD_DROP && rank >= 0 && rank <= 3 && n >= 0 && r->loose.n < MAX_FIELDS &&
        H5Sget_simple_extent_dims(space, dim, NULL) >= 0 && (rank < 2 || dim[1]) && (rank < 3 || dim[2])) {
      long size[3] = {(long)dim[0], (long)dim[1], (long)dim[2]};
      if (!load_values(r, path, id, attribute, kind, type, rank, size, n)) r->good = false;
    }
  } else r->good = false;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
}

static void visit_attribute(void *self) {
  const visit *v = self;
  ag_text full = {0};
  ag_text_printf(&full, "%s@%s", v->path, v->name);
  hid_t id = full.n < MAX_PATH ? H5Aopen(v->in, v->name, H5P_DEFAULT) : -1;
  if (id >= 0) load(v->r, full.s, id, true);
  if (id >= 0) H5Aclose(id);
  ag_text_done(&full);
}

static herr_t each_attribute(hid_t object, const char *name, const H5A_info_t *info, void *self) {
  const visit *of = self;
  (void)info;
  return guarded((visit){.r = of->r, .in = object, .name = name, .path = of->path}, visit_attribute);
}

/* Its index in the record or among the events, from an attribute; -1 if it has none. */
static long place_of(hid_t set, const char *attribute) {
  long place = -1;
  if (H5Aexists(set, attribute) <= 0) return -1;
  hid_t id = H5Aopen(set, attribute, H5P_DEFAULT), space = id >= 0 ? H5Aget_space(id) : -1;
  hid_t type = id >= 0 ? H5Aget_type(id) : -1;
  if (space < 0 || type < 0 || H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1 ||
      H5Aread(id, H5T_NATIVE_LONG, &place) < 0)
    place = -1;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (id >= 0) H5Aclose(id);
  return place;
}

static void found_series(reader *r, const char *path, hid_t set, ag_field_kind kind, long place) {
  hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  hsize_t dim[H5S_MAX_RANK] = {0};
  int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  bool shaped = type >= 0 && rank >= 1 && rank <= (kind == AG_FIELD_COLUMN ? 3 : 1) &&
                H5Sget_simple_extent_dims(space, dim, NULL) >= 0;
  shaped = shaped && dim[1] < MAX_SIDE && dim[2] < MAX_SIDE && (rank < 3 || dim[1] * dim[2] < MAX_WIDTH) &&
           dim[0] <= r->rows;
  if (shaped && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 8 && r->loose.n < MAX_FIELDS) {
    AG_PUSH(r->found, r->n_found, r->cap_found);
    r->found[r->n_found].field = r->loose.n;
    r->found[r->n_found].place = place;
    r->found[r->n_found++].n = (long)dim[0];
    ag_fields_add(&r->loose, path, kind, rank - 1, (long[2]){(long)dim[1], (long)dim[2]}, 0, NULL);
  } else {
    r->good = false;
  }
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
}

/* Are the values of a dataset in this file? Others may belong to somebody else, or be a pipe that never answers. */
static bool is_inside(hid_t set) {
  hid_t made = H5Dget_create_plist(set);
  H5D_layout_t layout = made >= 0 ? H5Pget_layout(made) : H5D_LAYOUT_ERROR;
  bool inside = layout == H5D_COMPACT || layout == H5D_CHUNKED ||
                (layout == H5D_CONTIGUOUS && H5Pget_external_count(made) == 0);
  if (made >= 0) H5Pclose(made);
  return inside;
}

static void visit_object(void *self) {
  visit *v = self;
  reader *r = v->r;
  ag_text path = {0};
  if (strnlen(v->name, MAX_PATH) == MAX_PATH) return;
  if (strcmp(v->name, ".")) ag_text_printf(&path, "/%s", v->name);
  hid_t object = H5Oopen(v->in, v->name, H5P_DEFAULT);
  if (object >= 0 && v->set && !is_inside(object)) {
    r->outside = true;
  } else if (object >= 0 && v->set) {
    long column = place_of(object, "column"), event = place_of(object, "event");
    if (column >= 0 || event >= 0)
      found_series(r, path.s, object, column >= 0 ? AG_FIELD_COLUMN : AG_FIELD_TIMES, column >= 0 ? column : event);
    else load(r, path.s, object, false);
  }
  v->path = ag_text_cstr(&path);
  if (object >= 0 && H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, each_attribute, v) < 0) r->good = false;
  r->good = r->good && object >= 0;
  if (object >= 0) H5Oclose(object);
  ag_text_done(&path);
}

static herr_t each_object(hid_t file, const char *name, const H5O_info_t *info, void *self) {
  return guarded((visit){.r = self, .in = file, .name = name, .set = info->type == H5O_TYPE_DATASET}, visit_object);
}

/* Moves columns (or events) 0, 1, 2, ... to the front of the list; false if one is missing or occurs twice. */
static bool in_order(reader *r, ag_field_kind kind, ag_fields *fields, long *n_row, long **count) {
  long n = 0;
  for (int i = 0; i < r->n_found; i++) n += r->loose.at[r->found[i].field].kind == kind;
  int *at = ag_heap_alloc(sizeof *at * (size_t)(n + 1));
  for (long k = 0; k < n; k++) at[k] = -1;
  bool good = true;
  for (int i = 0; i < r->n_found; i++) {
    if (r->loose.at[r->found[i].field].kind != kind) continue;
    if (r->found[i].place < n && at[r->found[i].place] < 0) at[r->found[i].place] = i;
    else good = false;
  }
  if (count) *count = ag_heap_alloc(sizeof(long) * (size_t)(n + 1));
  for (long k = 0; k < n && good; k++) {
    const ag_field *field = &r->loose.at[r->found[at[k]].field];
    ag_fields_add(fields, field->path, kind, field->rank, field->dim, 0, NULL);
    good = count || ag_field_length(field) > 0;
    if (count) (*count)[k] = r->found[at[k]].n;
    else if (k == 0) *n_row = r->found[at[k]].n;
    else good = good && r->found[at[k]].n == *n_row;
  }
  free(at);
  return good && (count || n > 0);
}

static int by_path(const void *a, const void *b) {
  return strcmp((*(const ag_field *const *)a)->path, (*(const ag_field *const *)b)->path);
}

/* Sorts what was read: columns, events, then the rest by path. */
static bool arrange(reader *r, ag_fields *fields, long *n_row, long **event_count) {
  if (!in_order(r, AG_FIELD_COLUMN, fields, n_row, NULL) || !in_order(r, AG_FIELD_TIMES, fields, n_row, event_count))
    return false;
  int n = 0;
  const ag_field **rest = ag_heap_alloc(sizeof *rest * (size_t)(r->loose.n + 1));
  for (int i = 0; i < r->loose.n; i++)
    if (r->loose.at[i].kind != AG_FIELD_COLUMN && r->loose.at[i].kind != AG_FIELD_TIMES) rest[n++] = &r->loose.at[i];
  qsort(rest, (size_t)n, sizeof *rest, by_path);
  for (int i = 0; i < n; i++)
    ag_fields_add(fields, rest[i]->path, rest[i]->kind, rest[i]->rank, rest[i]->dim, rest[i]->size, rest[i]->data);
  free(rest);
  int n_column, width, n_event;
  return ag_fields_layout(fields, &n_column, &width, &n_event);
}

/* NULL, or what is wrong. */
static const char *read_all(hid_t file, off_t size, ag_fields *fields, long *n_row, long **event_count) {
  reader r = {.room = (hssize_t)(size < INT64_MAX / PACKED - SLACK ? PACKED * (size + SLACK) : INT64_MAX),
              .rows = (hsize_t)(size < INT64_MAX / DEFLATED - SLACK ? DEFLATED * (size + SLACK) / 8 : INT64_MAX / 8),
              .good = true};
  /* in native order: for sorting the library builds tables, and crashes on those of a damaged file */
  herr_t done = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, each_object, &r, H5O_INFO_BASIC);
  if (r.exhausted) ag_heap_fail(r.why);
  bool good = done >= 0 && r.good && !r.outside && arrange(&r, fields, n_row, event_count);
  ag_fields_done(&r.loose);
  free(r.found);
  return good        ? NULL
         : r.outside ? "takes numbers from other files, which are not read"
                     : "is damaged: some quantities are missing or too large";
}

/* Checked first: nothing else of a file with a newer format is read. */
static bool known_format(hid_t file, const char *path, ag_text *trouble) {
  hid_t root = H5Oopen(file, "/", H5P_DEFAULT);
  long format = root >= 0 ? place_of(root, "format") : -1;
  if (root >= 0) H5Oclose(root);
  if (format >= 1 && format <= AG_STORE_FORMAT) return true;
  if (format < 1) ag_text_printf(trouble, "%s is not an anagyre result file", path);
  else
    ag_text_printf(trouble, "%s has format %ld, but this version reads up to %d: use a newer anagyre", path, format,
                   AG_STORE_FORMAT);
  return false;
}

/* Size of a regular file; -1 with a line in *trouble. A pipe is not waited for. */
static off_t size_of(const char *path, ag_text *trouble) {
  struct stat s;
  int fd = ag_file_open_regular(path);
  if (fd >= 0 && !fstat(fd, &s)) {
    (void)ag_file_close(fd);
    return s.st_size;
  }
  ag_text_printf(trouble, "cannot read %s: %s", path, errno == EINVAL ? "it is not a regular file" : strerror(errno));
  if (fd >= 0) (void)ag_file_close(fd);
  return -1;
}

/* The number of a file in the place of a pointer. */
static void *as_pointer(hid_t file) {
  union {
    intptr_t number;
    void *pointer;
  } both = {.number = (intptr_t)file};
  return both.pointer;
}

static void close_file(void *file) { H5Fclose((hid_t)(intptr_t)file); }

/* Opens a file for reading, held by the heap. Closing it closes all that was opened in it. */
static hid_t open_file(const char *path) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
  if (access >= 0 && H5Pset_file_locking(access, false, true) >= 0 &&
      H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
    file = H5Fopen(path, H5F_ACC_RDONLY, access);
  if (access >= 0) H5Pclose(access);
  if (file >= 0) ag_heap_hold(close_file, as_pointer(file));
  return file;
}

static void let_go(hid_t file) {
  ag_heap_let_go(close_file, as_pointer(file));
  H5Fclose(file);
}

ag_h5_file *ag_h5_file_open(const char *path, ag_fields *fields, long *n_row, long **event_count, ag_text *trouble) {
  *event_count = NULL;
  *n_row = 0;
  off_t size = size_of(path, trouble);
  if (size < 0) return NULL;
  hid_t file = open_file(path);
  if (file < 0) {
    ag_text_printf(trouble, "%s cannot be read as an HDF5 file", path);
    return NULL;
  }
  bool good = known_format(file, path, trouble);
  const char *why = good ? read_all(file, size, fields, n_row, event_count) : NULL;
  if (why) ag_text_printf(trouble, "%s %s", path, why);
  if (good && !why) {
    ag_h5_file *f = ag_heap_alloc(sizeof *f);
    *f = (ag_h5_file){file, size};
    return f;
  }
  free(*event_count);
  *event_count = NULL;
  let_go(file);
  return NULL;
}

off_t ag_h5_file_size(const ag_h5_file *f) { return f->size; }

bool ag_h5_file_read(ag_h5_file *f, const ag_field *field, long from, long n, double *out) {
  if (n == 0) return true;
  bool column = field->kind == AG_FIELD_COLUMN;
  hsize_t start[3] = {(hsize_t)from}, count[3] = {(hsize_t)n, (hsize_t)field->dim[0], (hsize_t)field->dim[1]};
  int rank = column ? field->rank + 1 : 1;
  hid_t set = H5Dopen2(f->file, field->path, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1,
        memory = H5Screate_simple(rank, count, NULL);
  bool good = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return good;
}
