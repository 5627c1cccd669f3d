/* SPDX-License-Identifier: MIT
 * Units: tapes and a text that calls them, for every number of lanes with the bits of the interpreter; arguments of
 * another version or size are refused, and a stale library in the cache is rebuilt. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "kern/kern.h"

#include "check.h"

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)
/* On both sides: V is a double here. */
#define ARGS(V) \
  typedef struct both_args { \
    const V *t, *z, *prep_f, *prep_g; \
    V *out; \
  } both_args;
ARGS(double)

static const char both_text[] = "\n#define BOTH_ABI 3\n" TEXT(ARGS(V)) "\n" TEXT(void both(const both_args *a) {
  V rate[2];
  VI fail = v_word_set(0);
  f(a->t, a->z, a->t, a->prep_f, rate, &fail);
  g(a->t, rate, a->t, a->prep_g, a->out, &fail);
  a->out[0] = v_blend(fail, v_nan(), a->out[0]);
});

enum { RHS, OUTER };

typedef struct scene {
  ag_graph *graph;
  ag_tape *tapes[2];
  ag_unit_tape list[2];
  ag_unit_spec spec;
  char folder[64];
} scene;

static void scene_init(scene *s) {
  static const char *const texts[] = {both_text}, *const entries[] = {"both"};
  ag_graph *g = s->graph = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL);
  ag_id p = ag_input(g, "p", 1, 1, AG_LEAF_REAL), sine = ag_apply1(g, AG_OP_SIN, x), root = ag_apply1(g, AG_OP_EXP, p);
  ag_bind binds[] = {{x, AG_SEG_Z, 0}, {y, AG_SEG_Z, 1}, {p, AG_SEG_P, 0}};
  ag_id rates[2] = {ag_mul(g, sine, root), ag_add(g, x, y)}, outer = ag_div(g, x, y);
  s->tapes[RHS] = ag_tape_create(g, 3, binds, 2, rates);
  s->tapes[OUTER] = ag_tape_create(g, 3, binds, 1, &outer);
  s->list[RHS] = (ag_unit_tape){.name = "f", .tape = s->tapes[RHS], .n_call = 1, .outside = true};
  s->list[OUTER] = (ag_unit_tape){.name = "g", .tape = s->tapes[OUTER], .n_call = 1};
  s->spec = (ag_unit_spec){.comment = "two tapes",
                           .n_tape = 2,
                           .n_text = 1,
                           .n_entry = 1,
                           .tapes = s->list,
                           .texts = texts,
                           .entries = entries,
                           .args = {"BOTH_ABI", "both_args", 3, sizeof(both_args)}};
  strcpy(s->folder, "/tmp/anagyre_unit_XXXXXX");
  AG_CHECK(mkdtemp(s->folder) != NULL);
}

static int each_file(const scene *s, bool drop) {
  DIR *d = opendir(s->folder);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[512];
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", s->folder, e->d_name);
    if (drop) AG_CHECK(unlink(path) == 0);
    n++;
  }
  if (d) closedir(d);
  return n;
}

static double expected(const scene *s, double x, double y, double p) {
  double t = 0, z[2] = {x, y}, rate[2], out, slots[64];
  const double *seg[AG_SEG_COUNT] = {&t, z, &p, NULL}, *then[AG_SEG_COUNT] = {&t, rate, &p, NULL};
  AG_CHECK(s->tapes[RHS]->n_slot < 64 && s->tapes[OUTER]->n_slot < 64);
  (void)ag_tape_prep(s->tapes[RHS], &p, slots);
  (void)ag_tape_eval(s->tapes[RHS], seg, slots, rate);
  (void)ag_tape_prep(s->tapes[OUTER], &p, slots);
  (void)ag_tape_eval(s->tapes[OUTER], then, slots, &out);
  return out;
}

static void check_lanes(const scene *s, int lanes) {
  ag_text reason = {0};
  ag_build_options o = {.cache = s->folder, .lanes = lanes};
  ag_unit *u = ag_unit_create(&s->spec, &o, &reason);
  AG_CHECK_STR(ag_text_cstr(&reason), "");
  AG_CHECK(u && ag_unit_lanes(u) == lanes);
  if (!u) return;
  size_t size = sizeof(double) * (size_t)lanes;
  double *t = ag_heap_aligned(size), *z = ag_heap_aligned(2 * size), *p = ag_heap_aligned(size),
         *out = ag_heap_aligned(size);
  double *prep[2], *rate = ag_heap_aligned(2 * size);
  unsigned long long *fail = ag_heap_aligned(size);
  for (int i = 0; i < lanes; i++) z[i] = 0.3 + i, z[lanes + i] = 2 - 0.1 * i, p[i] = 0.5 * i;
  for (int k = 0; k < 2; k++) {
    prep[k] = ag_heap_aligned(size * (size_t)(ag_unit_n_prep(u, k) + 1));
    ag_unit_prep(u, k, p, prep[k], fail);
  }
  both_args a = {t, z, prep[RHS], prep[OUTER], out};
  ag_unit_call(u, 0, &a);
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = t, [AG_SEG_Z] = z};
  ag_unit_eval(u, RHS, seg, prep[RHS], rate, fail);
  for (int i = 0; i < lanes; i++) {
    AG_CHECK(out[i] == expected(s, z[i], z[lanes + i], p[i]) && !fail[i]);
    AG_CHECK(rate[lanes + i] == z[i] + z[lanes + i]);
  }
  void *all[] = {t, z, p, out, prep[0], prep[1], rate, fail};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_unit_free(u);
  ag_text_done(&reason);
}

/* The text says BOTH_ABI 3 and the size of its struct: whoever expects something else gets nothing, with the reason. */
static void check_refused(scene *s) {
  ag_text reason = {0};
  ag_build_options o = {.cache = s->folder, .lanes = 1};
  ag_abi right = s->spec.args;
  s->spec.args.number = 4;
  AG_CHECK(ag_unit_create(&s->spec, &o, &reason) == NULL);
  AG_CHECK(strstr(ag_text_cstr(&reason), "both_args 3 of 40 bytes, not 4 of 40") != NULL);
  s->spec.args = right;
  s->spec.args.size = 48;
  AG_CHECK(ag_unit_create(&s->spec, &o, &reason) == NULL);
  AG_CHECK(strstr(ag_text_cstr(&reason), "both_args 3 of 40 bytes, not 3 of 48") != NULL);
  s->spec.args = right;
  static const char *const other[] = {"both", "neither"};
  s->spec.entries = other, s->spec.n_entry = 2;
  AG_CHECK(ag_unit_create(&s->spec, &o, &reason) == NULL);
  AG_CHECK_STR(ag_text_cstr(&reason), "the compiled kernel lacks an entry");
  s->spec.n_entry = 1;
  ag_text_done(&reason);
}

int main(void) {
  scene s = {0};
  scene_init(&s);
  for (int lanes = 1; lanes <= 8; lanes *= 2) check_lanes(&s, lanes);
  check_refused(&s);
  check_lanes(&s, 1);
  AG_CHECK(each_file(&s, true) > 0);
  AG_CHECK(rmdir(s.folder) == 0);
  ag_tape_free(s.tapes[RHS]);
  ag_tape_free(s.tapes[OUTER]);
  ag_graph_free(s.graph);
  return ag_check_report();
}
