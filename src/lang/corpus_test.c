/* SPDX-License-Identifier: MIT
 * The corpora. tests/wrong: every file is refused with exactly the messages in NAME.txt, within a second. tests/right
 * and models: every file is read without an error, and the text written for it reads back to the same model. --accept
 * rewrites the messages. A first line `# --set NAME=VALUE` is applied as a --set. */
#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "lang/lang.h"
#include "model/parts.h"

typedef struct file {
  char path[512], name[256];
  char *text;
  size_t size;
  int n_set;
  ag_set set;
} file;

static char *read_all(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = ag_heap_alloc(1 << 21);
  *size = fread(text, 1, (1 << 21) - 1, f);
  fclose(f);
  return text;
}

static void find_set(file *f) {
  static const char mark[] = "# --set ";
  if (strncmp(f->text, mark, strlen(mark))) return;
  char *line = strdup(f->text + strlen(mark));
  line[strcspn(line, "\r\n")] = 0;
  char *equals = strchr(line, '=');
  *equals = 0;
  f->set = (ag_set){line, equals + 1};
  f->n_set = 1;
}

static ag_status read_file(const file *f, ag_ctx *ctx, ag_model **m) {
  return ag_lang_read(ctx, f->name, f->text, f->size, f->n_set, &f->set, m);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Calls look for every NAME.nh in a folder and returns their number. */
static int each(const char *folder, void (*look)(file *, bool), bool flag) {
  struct dirent **list;
  int n = scandir(folder, &list, NULL, by_name), count = 0;
  for (int i = 0; i < n; i++) {
    const char *dot = strrchr(list[i]->d_name, '.');
    if (dot && !strcmp(dot, ".nh")) {
      file f = {0};
      snprintf(f.name, sizeof f.name, "%.250s", list[i]->d_name);
      snprintf(f.path, sizeof f.path, "%.250s/%.250s", folder, list[i]->d_name);
      f.text = read_all(f.path, &f.size);
      find_set(&f);
      look(&f, flag);
      free((char *)f.set.name);
      free(f.text);
      count++;
    }
    free(list[i]);
  }
  if (n >= 0) free(list);
  return count;
}

/* ---- wrong ---- */

static void wrong(file *f, bool accept) {
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_text got = {0};
  char golden[520];
  size_t size;
  clock_t begin = clock();
  AG_CHECK(read_file(f, &ctx, &m) == AG_WRONG);
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  if (m) fprintf(stderr, "%s was not refused\n", f->path);
  AG_CHECK(m == NULL && ctx.n_error > 0);
  AG_CHECK(seconds < 10); /* the goal is 1 s in a plain build; sanitizers are slower */
  ag_ctx_render(&ctx, &got);
  snprintf(golden, sizeof golden, "%.*s.txt", (int)(strlen(f->path) - 3), f->path);
  if (accept) {
    FILE *out = fopen(golden, "wb");
    AG_CHECK(out != NULL);
    if (out) fwrite(ag_text_cstr(&got), 1, got.n, out), fclose(out);
  } else {
    char *want = read_all(golden, &size);
    AG_CHECK(want != NULL);
    if (want) AG_CHECK_STR(ag_text_cstr(&got), want);
    free(want);
  }
  ag_text_done(&got);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* ---- right ---- */

/* Values of a model at a pseudo-random state: the Lagrangian, constraints, forces, observables, start values, ... */
typedef struct numbers {
  double *at;
  int n, cap;
} numbers;

static double draw(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return 0.2 + (double)(*seed >> 8) / 16777216.0;
}

/* Depends on the name alone, not on the order of the inputs. */
static void add_input(const ag_graph *g, ag_id x, ag_id *inputs, int *n, double *v, int *k) {
  int size = ag_input_storage(g, x);
  double length = 0;
  unsigned word = 1, *seed = &word;
  for (const char *c = ag_node_name(g, x); *c; c++) word = word * 31 + (unsigned char)*c;
  inputs[(*n)++] = x;
  for (int i = 0; i < size; i++) v[*k + i] = draw(seed), length += v[*k + i] * v[*k + i];
  for (int i = 0; i < size && ag_is_rotation(g, x); i++) v[*k + i] /= sqrt(length);
  *k += size;
}

static void add_numbers(ag_graph *g, ag_id x, const ag_id *inputs, int n, const double *v, numbers *out) {
  double y[64];
  int size = ag_node_rows(g, x) * ag_node_cols(g, x);
  if (!x || size > 64) return;
  ag_evaluate(g, n, inputs, v, 1, &x, y);
  for (int i = 0; i < size; i++) {
    AG_PUSH(out->at, out->n, out->cap);
    out->at[out->n++] = y[i];
  }
}

static numbers evaluate(const ag_model *m) {
  ag_graph *g = m->graph;
  ag_id inputs[2000];
  double v[20000];
  int n = 0, k = 0;
  numbers out = {0};
  add_input(g, m->t, inputs, &n, v, &k);
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) add_input(g, m->params[i].input, inputs, &n, v, &k);
  for (int i = 0; i < m->n_coords; i++)
    add_input(g, m->coords[i].q, inputs, &n, v, &k), add_input(g, m->coords[i].xi, inputs, &n, v, &k);
  for (int i = 0; i < m->n_processes; i++) add_input(g, m->processes[i].x, inputs, &n, v, &k);
  for (int i = 0; i < m->n_drives; i++) add_input(g, m->drives[i].x, inputs, &n, v, &k);
  for (int i = 0; i < m->n_reactions; i++) add_input(g, m->reactions[i].x, inputs, &n, v, &k);
  for (int i = 0; i < m->n_multipliers; i++) add_input(g, m->multipliers[i].x, inputs, &n, v, &k);
  for (int i = 0; i < m->n_holonomic_multipliers; i++) add_input(g, m->holonomic_multipliers[i].x, inputs, &n, v, &k);
  if (m->energy) add_input(g, m->energy, inputs, &n, v, &k);
  add_numbers(g, m->lagrangian, inputs, n, v, &out);
  for (int i = 0; i < m->n_params; i++) add_numbers(g, m->params[i].value, inputs, n, v, &out);
  for (int i = 0; i < m->n_constraints; i++) add_numbers(g, m->constraints[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_holonomics; i++) add_numbers(g, m->holonomics[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_prescribes; i++) add_numbers(g, m->prescribes[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_forces; i++) add_numbers(g, m->forces[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_processes; i++) {
    add_numbers(g, m->processes[i].drift, inputs, n, v, &out);
    if (m->processes[i].start) add_numbers(g, m->processes[i].start, inputs, n, v, &out);
  }
  for (int i = 0; i < m->n_noises; i++)
    for (int j = 0; j < m->noises[i].n; j++) add_numbers(g, m->noises[i].parts[j].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_frames; i++) add_numbers(g, m->frames[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_observables; i++) add_numbers(g, m->observables[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_events; i++) add_numbers(g, m->events[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_starts; i++) add_numbers(g, m->starts[i].x, inputs, n, v, &out);
  for (int i = 0; i < m->n_expects; i++)
    if (m->expects[i].x) add_numbers(g, m->expects[i].x, inputs, n, v, &out);
  return out;
}

static void same_numbers(const ag_model *a, const ag_model *b) {
  numbers u = evaluate(a), v = evaluate(b);
  AG_CHECK(u.n == v.n);
  for (int i = 0; i < u.n && i < v.n; i++)
    if (!(isnan(u.at[i]) && isnan(v.at[i])))
      AG_CHECK_NEAR(v.at[i], u.at[i], 1e-13); /* signs and factors may move: rounding error only */
  free(u.at);
  free(v.at);
}

static void check_round_trip(const file *f, const ag_model *m) {
  ag_text one = {0}, two = {0};
  ag_ctx ctx = {0};
  ag_model *again = NULL;
  ag_lang_write(m, &one);
  if (ag_lang_read(&ctx, f->name, ag_text_cstr(&one), one.n, 0, NULL, &again) != AG_OK) {
    ag_text why = {0};
    ag_ctx_render(&ctx, &why);
    fprintf(stderr, "%s: what was written does not read back:\n%s", f->path, ag_text_cstr(&why));
    ag_text_done(&why);
  }
  AG_CHECK(again != NULL);
  if (again) {
    ag_lang_write(again, &two);
    AG_CHECK_STR(ag_text_cstr(&two), ag_text_cstr(&one));
    same_numbers(m, again);
  }
  ag_model_free(again);
  ag_ctx_done(&ctx);
  ag_text_done(&one);
  ag_text_done(&two);
}

/* Nodes of an expression when written out in full. */
static double tree_size(const ag_model *m, ag_id root) {
  int n = (int)root + 1;
  double *size = ag_heap_alloc(sizeof *size * (size_t)n);
  for (int x = 1; x < n; x++) {
    size[x] = 1;
    for (int i = 0; i < ag_node_n_arg(m->graph, (ag_id)x); i++) size[x] += size[ag_node_arg(m->graph, (ag_id)x, i)];
  }
  double all = size[root];
  free(size);
  return all;
}

/* A rotation about a general axis is printed as a matrix, without the declaration that ag_lang_write adds. */
static bool has_mark(const ag_graph *g, ag_id x) {
  bool *in = ag_heap_alloc((size_t)x + 1), found = false;
  in[x] = true;
  for (ag_id y = x; y > 0; y--) {
    if (!in[y]) continue;
    found = found || ag_node_op(g, y) == AG_OP_ROTATION;
    for (int i = 0; i < ag_node_n_arg(g, y); i++) in[ag_node_arg(g, y, i)] = true;
  }
  free(in);
  return found;
}

/* The printed text of a node parses back to that very node: the file is read again with the printed texts as
 * observables. */
static void check_same_nodes(const file *f, const ag_model *m) {
  ag_text text = {0};
  ag_ctx ctx = {0};
  ag_model *again = NULL;
  int n = 0;
  ag_text_strn(&text, f->text, f->size);
  for (int i = 0; i < m->n_observables && n < 200; i++, n++) {
    bool small = tree_size(m, m->observables[i].x) < 1e4; /* otherwise 0: Newton steps written out are very long */
    ag_text_printf(&text, "\nobservable check_%d = ", i);
    ag_print(m->graph, small ? m->observables[i].x : m->observables[0].x, &text);
  }
  ag_text_str(&text, "\nobservable check_lagrangian = ");
  ag_print(m->graph, m->lagrangian, &text);
  ag_text_char(&text, '\n');
  if (text.n < 1 << 20) {
    ag_status status = ag_lang_read(&ctx, f->name, ag_text_cstr(&text), text.n, f->n_set, &f->set, &again);
    if (status != AG_OK) {
      ag_text why = {0};
      ag_ctx_render(&ctx, &why);
      fprintf(stderr, "%s: what was printed does not parse:\n%s", f->path, ag_text_cstr(&why));
      ag_text_done(&why);
    }
    AG_CHECK(status == AG_OK);
  }
  for (int i = 0; again && i < n; i++) {
    if (has_mark(again->graph, again->observables[i].x) || tree_size(m, m->observables[i].x) >= 1e4) continue;
    if (again->observables[i].x != again->observables[n + i].x)
      fprintf(stderr, "%s: observable %s\n", f->path, m->observables[i].name);
    AG_CHECK(again->observables[i].x == again->observables[n + i].x);
  }
  bool same = !again || again->lagrangian == again->observables[again->n_observables - 1].x ||
              has_mark(again->graph, again->lagrangian);
  if (!same) fprintf(stderr, "%s: the Lagrangian\n", f->path);
  AG_CHECK(same);
  ag_model_free(again);
  ag_ctx_done(&ctx);
  ag_text_done(&text);
}

static void right(file *f, bool same_nodes) {
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  if (read_file(f, &ctx, &m) != AG_OK) {
    ag_text why = {0};
    ag_ctx_render(&ctx, &why);
    fprintf(stderr, "%s", ag_text_cstr(&why));
    ag_text_done(&why);
  }
  AG_CHECK(m != NULL && ctx.n_error == 0);
  if (m) {
    check_round_trip(f, m);
    if (same_nodes && tree_size(m, m->lagrangian) < 1e5 && m->n_lets < 200)
      check_same_nodes(f, m); /* otherwise too long or too deep without lets */
  }
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(int argc, char **argv) {
  bool accept = argc > 1 && !strcmp(argv[1], "--accept");
  AG_CHECK(each(AG_SOURCE_DIR "/tests/wrong", wrong, accept) >= 60);
  AG_CHECK(each(AG_SOURCE_DIR "/tests/right", right, true) >= 15);
  each(AG_SOURCE_DIR "/models", right, true);
  return ag_check_report();
}
