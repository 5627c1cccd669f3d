/* SPDX-License-Identifier: MIT
 * HDF5 in a separate process. Where memory runs out inside it, and in some damaged files, the library crashes or
 * hangs. A child process does the work here and answers through a socket: if it dies, that is an error like any
 * other, and nothing of the library stays in this process. */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store_internal.h"

/* Seconds allowed for a reader, plus one per this many bytes of the file; files that may be open. */
enum { PATIENCE = 60, PER_SECOND = 1 << 23, MAX_FILES = 1 << 10 };

struct ag_h5 {
  int fd;
  pid_t pid;
};

/* The answer of the child: a result, an errno, and the number of bytes that follow. */
typedef struct reply {
  int64_t good, trouble, size;
} reply;

/* Reads n values of a column or of the times of an event; the path follows. */
typedef struct request {
  int64_t kind, rank, dim[3], from, n, path;
} request;

/* A task for a child. */
typedef struct task {
  void (*work)(void *task);
  int fd; /* to the parent */
  ag_h5_faults faults;
  const char *path; /* of the file */
  int file, log;    /* writing: open files */
  const ag_log_content *content;
} task;

/* ---- the child ---- */

static herr_t look(unsigned n, const H5E_error2_t *error, void *faults) {
  (void)n;
  if (error->maj_num == H5E_RESOURCE || error->min_num == H5E_CANTALLOC) ((ag_h5_faults *)faults)->memory = true;
  return 0;
}

/* Called for every call of the library that fails. */
static herr_t note(hid_t stack, void *faults) {
  ((ag_h5_faults *)faults)->n++;
  (void)H5Ewalk2(stack, H5E_WALK_DOWNWARD, look, faults);
  return 0;
}

static void answer(const task *t, reply r, const void *bytes) {
  if (ag_file_write(t->fd, &r, sizeof r) != sizeof r || ag_file_write(t->fd, bytes, (size_t)r.size) != (size_t)r.size)
    _exit(1); /* the parent is gone */
}

/* The log by a description of its own: the lock belongs to the parent, and ends with it. */
static void open_again(task *t) {
  char name[40];
  snprintf(name, sizeof name, "/proc/self/fd/%d", t->log);
  int fd = ag_file_open(name, O_RDONLY, 0);
  if (fd >= 0) t->log = fd;
}

/* Closes what this process does not need, locked files above all. */
static void close_others(const task *t) {
  int last = (int)sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < last && fd < MAX_FILES; fd++)
    if (fd != t->fd && fd != t->file && fd != t->log) (void)close(fd);
}

static void serve_write(void *self) {
  task *t = self;
  int trouble = 0;
  bool good = ag_h5_file_write(t->path, t->file, t->content, t->log, &trouble);
  if (t->faults.n) good = false;
  if (t->faults.memory) trouble = ENOMEM;
  answer(t, (reply){good, trouble, 0}, "");
}

/* One part of a column or of the times of an event; false: the parent has closed the file. */
static bool serve_part(task *t, ag_h5_file *f) {
  request q;
  if (ag_file_read(t->fd, &q, sizeof q) != sizeof q) return false;
  ag_field field = {.kind = (ag_field_kind)q.kind, .rank = (int)q.rank, .dim = {q.dim[0], q.dim[1], q.dim[2]}};
  field.path = ag_heap_alloc((size_t)q.path + 1);
  if (ag_file_read(t->fd, field.path, (size_t)q.path) != (size_t)q.path) return false;
  size_t size = sizeof(double) * (size_t)(q.n * (field.kind == AG_FIELD_COLUMN ? ag_field_length(&field) : 1));
  double *part = ag_heap_alloc(size + 1);
  bool good = ag_h5_file_read(f, &field, q.from, q.n, part) && !t->faults.n;
  answer(t, (reply){good, t->faults.memory ? ENOMEM : EIO, good ? (int64_t)size : 0}, part);
  free(part);
  free(field.path);
  return true;
}

/* Limits the further processor time: reading a damaged file may not end. */
static void limit_time(const ag_h5_file *f) {
  struct rusage used;
  struct rlimit limit;
  if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &limit)) return;
  rlim_t most = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + PATIENCE +
                (rlim_t)(f ? ag_h5_file_size(f) / PER_SECOND : 0);
  if (most < limit.rlim_cur) limit.rlim_cur = most;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

static void serve_read(void *self) {
  task *t = self;
  ag_fields fields = {0};
  ag_text trouble = {0}, all = {0};
  long n_row = 0, *count = NULL;
  int n_column, width, n_event;
  limit_time(NULL);
  ag_h5_file *f = ag_h5_file_open(t->path, &fields, &n_row, &count, &trouble);
  if (f && t->faults.n) ag_text_printf(&trouble, "%s is damaged: some quantities cannot be read", t->path);
  if (t->faults.memory) {
    ag_text_clear(&trouble);
    ag_text_printf(&trouble, "cannot read %s: out of memory", t->path);
  }
  if (trouble.n) {
    answer(t, (reply){false, 0, (int64_t)trouble.n}, trouble.s);
    return;
  }
  limit_time(f);
  AG_ASSERT(ag_fields_layout(&fields, &n_column, &width, &n_event));
  ag_text_strn(&all, (const char *)(long[]){n_row, n_event}, 2 * sizeof(long));
  ag_text_strn(&all, (const char *)count, sizeof(long) * (size_t)n_event);
  ag_fields_encode(&fields, &all);
  answer(t, (reply){true, 0, (int64_t)all.n}, all.s);
  ag_text_done(&all);
  ag_fields_done(&fields);
  while (serve_part(t, f)) {
  }
}

/* The life of the child. The heaps of this program are not touched: another thread may have held their locks. */
_Noreturn static void live(task *t, pid_t parent) {
  char why[AG_HEAP_WHY];
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXCPU, SIG_DFL);
  (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0});
  if (t->content) open_again(t);
  close_others(t);
  (void)ag_heap_use(NULL);
  ag_heap *heap = ag_heap_create(NULL);
  if (!heap) _exit(1);
  H5dont_atexit();
  (void)H5Eset_auto2(H5E_DEFAULT, note, &t->faults);
  if (!ag_heap_try(heap, t->work, t, why)) answer(t, (reply){false, ENOMEM, (int64_t)strlen(why)}, why);
  _exit(0);
}

/* ---- the parent ---- */

/* Two ends beyond the standard streams, also where those are closed: a later child closes what it inherits of them. */
static bool connect_ends(int ends[2]) {
  int low[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low)) return false;
  for (int k = 0; k < 2; k++) {
    ends[k] = low[k] > 2 ? low[k] : fcntl(low[k], F_DUPFD_CLOEXEC, 3);
    if (ends[k] != low[k]) (void)ag_file_close(low[k]);
  }
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  for (int k = 0; k < 2; k++)
    if (ends[k] >= 0) (void)ag_file_close(ends[k]);
  errno = EMFILE;
  return false;
}

/* Begins a task in a child; false with errno. */
static bool start(ag_h5 *h, task *t) {
  int ends[2], trouble;
  pid_t parent = getpid();
  if (!connect_ends(ends)) return false;
  h->pid = fork();
  trouble = errno;
  if (h->pid == 0) {
    (void)close(ends[0]);
    t->fd = ends[1];
    live(t, parent);
  }
  (void)ag_file_close(ends[1]);
  h->fd = ends[0];
  if (h->pid < 0) (void)ag_file_close(ends[0]);
  errno = trouble;
  return h->pid > 0;
}

/* Closes the socket, which ends the child; returns its status. */
static int finish(ag_h5 *h) {
  int status = 0;
  pid_t done;
  (void)ag_file_close(h->fd);
  do done = waitpid(h->pid, &status, 0);
  while (done < 0 && errno == EINTR);
  return done == h->pid ? status : 0;
}

static void release(void *h) { (void)finish(h); }

static bool hear(const ag_h5 *h, void *to, size_t n) { return ag_file_read(h->fd, to, n) == n; }

bool ag_h5_write(const char *path, int fd, const ag_log_content *c, int log, int *trouble) {
  task t = {.work = serve_write, .path = path, .file = fd, .log = log, .content = c};
  ag_h5 h;
  reply r;
  if (!start(&h, &t)) {
    *trouble = errno;
    return false;
  }
  bool heard = hear(&h, &r, sizeof r);
  (void)finish(&h);
  *trouble = !heard ? EIO : r.good ? 0 : r.trouble ? (int)r.trouble : EIO;
  return heard && r.good;
}

/* The answer to ag_h5_open; NULL: there is none. */
static char *hear_open(const ag_h5 *h, reply *r) {
  if (!hear(h, r, sizeof *r) || r->size < 0) return NULL;
  char *bytes = ag_heap_alloc((size_t)r->size + 1);
  if (hear(h, bytes, (size_t)r->size)) return bytes;
  free(bytes);
  return NULL;
}

/* A damaged file may have made the library overwrite what the child says. */
static bool unpack(const char *bytes, size_t size, ag_fields *fields, long *n_row, long **event_count) {
  long head[2];
  int n_column, width, n_event;
  if (size < sizeof head) return false;
  memcpy(head, bytes, sizeof head);
  if (head[0] < 0 || head[1] < 0 || (size_t)head[1] > (size - sizeof head) / sizeof(long)) return false;
  size_t at = sizeof head + sizeof(long) * (size_t)head[1];
  *n_row = head[0];
  *event_count = ag_heap_alloc(sizeof(long) * (size_t)(head[1] + 1));
  memcpy(*event_count, bytes + sizeof head, at - sizeof head);
  return ag_fields_decode(fields, bytes + at, size - at) && ag_fields_layout(fields, &n_column, &width, &n_event) &&
         n_event == head[1];
}

ag_h5 *ag_h5_open(const char *path, ag_fields *fields, long *n_row, long **event_count, ag_text *trouble) {
  task t = {.work = serve_read, .path = path, .file = -1, .log = -1};
  reply r = {0};
  *event_count = NULL;
  *n_row = 0;
  ag_h5 *h = ag_heap_alloc(sizeof *h);
  if (!start(h, &t)) {
    ag_text_printf(trouble, "cannot read %s: no process can be started for it: %s", path, strerror(errno));
    free(h);
    return NULL;
  }
  ag_heap_hold(release, h);
  char *bytes = hear_open(h, &r);
  bool good = bytes && r.good && unpack(bytes, (size_t)r.size, fields, n_row, event_count);
  if (good) {
    free(bytes);
    return h;
  }
  ag_heap_let_go(release, h);
  int status = finish(h);
  if (bytes && !r.good) ag_text_strn(trouble, bytes, (size_t)r.size);
  else if (bytes) ag_text_printf(trouble, "%s is damaged: a quantity has an impossible size", path);
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    ag_text_printf(trouble, "%s cannot be read: the HDF5 library hangs on it", path);
  else ag_text_printf(trouble, "%s cannot be read: the HDF5 library failed, it is damaged or memory ran out", path);
  free(*event_count);
  *event_count = NULL;
  free(bytes);
  free(h);
  return NULL;
}

void ag_h5_close(ag_h5 *h) {
  if (!h) return;
  ag_heap_let_go(release, h);
  (void)finish(h);
  free(h);
}

/* The child had too little memory: so has this call. */
static void pass_on_exhaustion(const ag_h5 *h, const reply *r) {
  char why[AG_HEAP_WHY] = "";
  if (r->good || r->trouble != ENOMEM || !ag_heap_guarded()) return;
  bool told = r->size > 0 && r->size < (int64_t)sizeof why && hear(h, why, (size_t)r->size);
  ag_heap_fail(told ? why : "out of memory in the HDF5 library");
}

/* A child that has gone may have answered before it heard all: that memory ran out. */
static bool ask(const ag_h5 *h, const void *bytes, size_t n) {
  return send(h->fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n || errno == EPIPE || errno == ECONNRESET;
}

bool ag_h5_read(ag_h5 *h, const ag_field *field, long from, long n, double *out) {
  if (n == 0) return true;
  request q = {(int64_t)field->kind,        field->rank, {field->dim[0], field->dim[1], field->dim[2]}, from, n,
               (int64_t)strlen(field->path)};
  reply r;
  if (!ask(h, &q, sizeof q) || !ask(h, field->path, (size_t)q.path) || !hear(h, &r, sizeof r)) return false;
  pass_on_exhaustion(h, &r);
  size_t size = sizeof(double) * (size_t)(n * (field->kind == AG_FIELD_COLUMN ? ag_field_length(field) : 1));
  return r.good && (size_t)r.size == size && hear(h, out, size);
}
