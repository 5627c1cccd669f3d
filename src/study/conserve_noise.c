/* SPDX-License-Identifier: MIT
 * The effect of noise on a quantity Q. Along a path dQ = X0 Q dt + sum g_i Q o dW_i, so that Q is conserved on every
 * path if X0 Q and all g_i Q vanish. The mean changes at X0 Q + 1/2 sum g_i (g_i Q), Ito's drift; where that vanishes Q
 * is conserved in the mean, as far as the mean exists. docs/theory/5-conservation.md. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { WITNESSES = 24 };

/* The field of a channel: q moves with sigma, xi with rates, both by coordinate, processes with their amplitude. */
typedef struct channel {
  const ag_id *sigma, *amplitude;
  ag_id *rates;
} channel;

static ag_id along(const ag_geom *x, const channel *c, ag_id e) {
  int n = x->n_coord, n_process = ag_model_n_processes(x->model), n_in = 2 * n + n_process;
  ag_id *inputs = AG_NEWN(x->arena, ag_id, 2 * n_in + 1), *seeds = inputs + n_in, out;
  for (int i = 0; i < n_process; i++)
    inputs[2 * n + i] = ag_model_processes(x->model)[i].x, seeds[2 * n + i] = c->amplitude[i];
  for (int i = 0; i < n; i++) {
    inputs[i] = x->q[i], inputs[n + i] = x->xi[i];
    seeds[i] = c->sigma[i], seeds[n + i] = c->rates[i];
  }
  ag_forward(x->g, n_in, inputs, seeds, 1, &e, &out);
  return out;
}

static channel channel_of(ag_conserving *v, int k) {
  const ag_geom *x = v->x;
  channel c = {.sigma = ag_system_sigma(v->sys, k),
               .amplitude = ag_system_amplitude(v->sys, k),
               .rates = AG_NEWN(x->arena, ag_id, x->n_coord + 1)};
  ag_id column = ag_geom_noise(x, v->probe.rank, v->probe.row, c.sigma, c.amplitude, ag_system_pull(v->sys, k));
  for (int i = 0; i < x->n_coord; i++) c.rates[i] = ag_rows_of(x->g, column, x->at[i], ag_node_rows(x->g, x->xi[i]));
  return c;
}

bool ag_conserve_nonzero(ag_conserving *v, int n, const ag_id *x) {
  ag_program *program = ag_probe_program(&v->probe, n, x);
  int n_out = ag_program_n_out(program);
  ag_balls *out = ag_balls_create(v->probe.flint, n_out);
  const ag_enclosed *e;
  bool found = false;
  for (int k = 0; k < WITNESSES && !found && (e = ag_conserve_state(v, k)); k++) {
    bool good = ag_balls_eval(program, e->in, out);
    for (int i = 0; i < n_out && good && !found; i++) found = ag_balls_nonzero(out, i);
  }
  ag_balls_free(out);
  ag_program_free(program);
  return found;
}

/* Pathwise, in the mean, or neither: each is proved, or the answer is undecided. */
static const char *decide(ag_conserving *v, ag_id Q, int n, const channel *channels) {
  ag_graph *g = v->x->g;
  ag_id *terms = AG_NEWN(v->x->arena, ag_id, n + 1), part[2], sum = ag_num(g, 0), half = ag_num(g, 0.5);
  ag_geom_rate(v->x, Q, &part[0], &part[1]);
  ag_id drift = terms[n] = ag_add(g, part[0], part[1]);
  for (int i = 0; i < n; i++) {
    terms[i] = along(v->x, &channels[i], Q);
    sum = ag_add(g, sum, along(v->x, &channels[i], terms[i]));
  }
  ag_id ito = ag_add(g, drift, ag_mul(g, half, sum));
  if (ag_probe_vanish(&v->probe, n + 1, terms, false, NULL) == AG_TRUTH_YES) return "pathwise";
  if (!ag_conserve_nonzero(v, n + 1, terms)) return "undecided";
  if (ag_probe_vanish(&v->probe, 1, &ito, false, NULL) == AG_TRUTH_YES) return "mean";
  return ag_conserve_nonzero(v, 1, &ito) ? "no" : "undecided";
}

const char *ag_conserve_pathwise(ag_conserving *v, ag_id Q) {
  int n = ag_system_dims(v->sys)->channel, first;
  if (!ag_probe_points(&v->probe, 0, &first) && v->probe.rank < 0) return "undecided";
  v->acceleration = ag_geom_acceleration(v->x, v->probe.rank, v->probe.row);
  channel *channels = AG_NEWN(v->x->arena, channel, n + 1);
  for (int k = 0; k < n; k++) channels[k] = channel_of(v, k);
  return decide(v, Q, n, channels);
}

void ag_conserve_noise(ag_conserving *v) {
  int n = ag_system_dims(v->sys)->channel;
  if (!n) return;
  channel *channels = AG_NEWN(v->x->arena, channel, n + 1);
  for (int k = 0; k < n && v->probe.rank >= 0; k++) channels[k] = channel_of(v, k);
  for (int i = 0; i < v->c->n; i++) {
    ag_quantity *q = &v->c->at[i];
    q->with_noise = v->probe.rank >= 0 && !q->jump ? decide(v, q->x, n, channels) : "undecided";
  }
}

/* ---- rates ---- */

const char *ag_rate_text(ag_rate_word word) {
  static const char *const words[] = {"zero, proved", "zero at samples", "not zero", "undecided"};
  return words[word];
}

/* An identity, an enclosed value without 0, or numbers. Programs with held values (Newton steps) prove neither. */
static ag_rate_word word_of(ag_conserving *v, ag_id x) {
  static const double SMALL = 1e-9; /* of numbers of order 1: far above the error of Newton steps */
  if (ag_is_zero(v->x->g, x)) return AG_RATE_ZERO;
  ag_truth truth = ag_probe_vanish(&v->probe, 1, &x, false, NULL);
  if (truth == AG_TRUTH_YES) return AG_RATE_ZERO;
  if (truth == AG_TRUTH_NO && ag_conserve_nonzero(v, 1, &x)) return AG_RATE_NOT_ZERO;
  ag_program *program = ag_probe_program(&v->probe, 1, &x);
  ag_balls *out = ag_balls_create(v->probe.flint, 1);
  const ag_enclosed *e;
  double worst = 0;
  int n = 0;
  for (int k = 0; k < WITNESSES && (e = ag_conserve_state(v, k)); k++) {
    if (!ag_balls_eval(program, e->in, out)) continue;
    worst = fmax(worst, fabs(ag_balls_middle(out, 0)));
    n++;
  }
  ag_balls_free(out);
  ag_program_free(program);
  return n == 0 ? AG_RATE_UNDECIDED : worst < SMALL ? AG_RATE_ZERO_SEEN : AG_RATE_UNDECIDED;
}

/* A rate x; unsolved: the same in accelerations, two forms (0: there is none). Those are printed where x is long. */
static void add_rate(ag_rates *r, ag_conserving *v, const char *name, const char *of, ag_id x, const char *formula,
                     const ag_id unsolved[2]) {
  AG_PUSH(r->at, r->n, r->cap);
  ag_rate *rate = &r->at[r->n++];
  *rate = (ag_rate){ag_arena_str(v->c->arena, name), of, word_of(v, x), NULL, false};
  if (rate->word == AG_RATE_ZERO || rate->word == AG_RATE_ZERO_SEEN) return;
  rate->formula = formula;
  for (int i = 0; i < 2 && !rate->formula && unsolved[i]; i++)
    if ((rate->formula = ag_conserve_print(v, unsolved[i]))) rate->unsolved = true;
}

/* The accelerations by their names in the equations, one input for each coordinate. */
static ag_id *named_accelerations(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_id *named = AG_NEWN(x->arena, ag_id, x->n_coord + 1);
  for (int i = 0; i < x->n_coord; i++) {
    const char *velocity = ag_model_coords(x->model)[i].velocity;
    named[i] =
        ag_input(x->g, ag_arena_printf(x->arena, "%s'", velocity), ag_node_rows(x->g, x->xi[i]), 1, AG_LEAF_REAL);
  }
  return named;
}

/* The rate of Q in named accelerations; channel: NULL, that of the drift. */
static ag_id unsolved(const ag_geom *x, const channel *c, ag_id *named, ag_id Q) {
  ag_id moved, pushed;
  if (c) return along(x, &(channel){c->sigma, c->amplitude, named}, Q);
  ag_geom_rate(x, Q, &moved, &pushed);
  ag_forward(x->g, x->n_coord, x->xi, named, 1, &Q, &pushed);
  return ag_add(x->g, moved, pushed);
}

/* A scalar Q: its drift, its noise in every channel, and with noise the drift of its mean. */
static void add_rates(ag_rates *r, ag_conserving *v, const char *name, ag_id Q, int n, const channel *channels,
                      ag_id *named) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  ag_id part[2], both[2] = {0, 0}, sum = ag_num(g, 0), half = ag_num(g, 0.5), given = ag_conserve_given(v, Q);
  ag_geom_rate(x, Q, &part[0], &part[1]);
  ag_id drift = ag_add(g, part[0], part[1]);
  if (given) both[0] = unsolved(x, NULL, named, given); /* independent velocities: those whose equations are shown */
  both[given != 0] = unsolved(x, NULL, named, Q);
  add_rate(r, v, name, "dt", drift, ag_conserve_print_rate(v, Q), both);
  for (int i = 0; i < n; i++) {
    ag_id noise = along(x, &channels[i], Q);
    const char *of = ag_arena_printf(v->c->arena, "d%s", ag_model_channels(v->m)[i].name);
    if (given) both[0] = unsolved(x, &channels[i], named, given);
    both[given != 0] = unsolved(x, &channels[i], named, Q);
    add_rate(r, v, name, of, noise, ag_conserve_print(v, noise), both);
    sum = ag_add(g, sum, along(x, &channels[i], noise));
  }
  ag_id ito = ag_add(g, drift, ag_mul(g, half, sum));
  if (n) add_rate(r, v, name, "mean", ito, ag_conserve_print_solved(v, ito), (const ag_id[2]){0, 0});
}

static void observable_rates(ag_rates *r, ag_conserving *v, int n, const channel *channels, ag_id *named) {
  for (int i = 0; i < ag_model_n_observables(v->m); i++) {
    const ag_item *o = &ag_model_observables(v->m)[i];
    ag_id x = o->x;
    if (!ag_geom_plain(v->x, &x)) continue; /* a force of constraint: white noise */
    int rows = ag_node_rows(v->x->g, x), cols = ag_node_cols(v->x->g, x);
    for (int k = 0; k < rows * cols; k++) {
      ag_text name = {0};
      ag_entry_name(o->name, rows, cols, k, &name);
      add_rates(r, v, ag_text_cstr(&name), ag_entry(v->x->g, x, k / cols, k % cols), n, channels, named);
      ag_text_done(&name);
    }
  }
}

ag_status ag_conserve_rates(ag_rates *r, ag_ctx *ctx, ag_model *m, ag_system *sys) {
  *r = (ag_rates){.c = {.arena = ag_arena_create()}};
  ag_conserving v = {.c = &r->c, .m = m, .sys = sys};
  AG_TRY(ag_conserve_begin(&v, ctx, 0, NULL));
  int n = ag_system_dims(sys)->channel, first;
  channel *channels = AG_NEWN(v.x->arena, channel, n + 1);
  ag_status status = AG_OK;
  if (ag_probe_points(&v.probe, 0, &first) || v.probe.rank >= 0) {
    v.acceleration = ag_geom_acceleration(v.x, v.probe.rank, v.probe.row);
    for (int k = 0; k < n; k++) channels[k] = channel_of(&v, k);
    ag_id *named = named_accelerations(&v);
    add_rates(r, &v, "energy", v.x->energy, n, channels, named);
    observable_rates(r, &v, n, channels, named);
  } else {
    ag_ctx_error(ctx, (ag_pos){0}, "the equations cannot be read exactly: no rates");
    status = AG_FAILED;
  }
  ag_conserve_end(&v);
  return status;
}

void ag_rates_done(ag_rates *r) {
  ag_conservation_done(&r->c);
  free(r->at);
}
