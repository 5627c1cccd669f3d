/* SPDX-License-Identifier: MIT
 * The normal form keeps values exactly: random expressions are written in roundabout ways (trigonometric identities,
 * rotations and unit vectors, common factors, quotients that cancel, triple products), normalised, and compared over
 * both prime fields. The roundabout part must disappear. */
#include "exact/exact.h"

#include "check.h"

enum { SCALARS = 5, POINTS = 2, SEEDS = 150 };

static ag_graph *g;
static ag_id in[SCALARS + 3], u, w, R; /* a, b, c, two angles; two vectors and a rotation */
static uint64_t state;

static int dice(int n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

static ag_id mul(ag_id x, ag_id y) { return ag_mul(g, x, y); }
static ag_id add(ag_id x, ag_id y) { return ag_add(g, x, y); }
static ag_id sub(ag_id x, ag_id y) { return ag_sub(g, x, y); }
static ag_id sine(ag_id x) { return ag_apply1(g, AG_OP_SIN, x); }
static ag_id cosine(ag_id x) { return ag_apply1(g, AG_OP_COS, x); }
static ag_id part(ag_id x, int k) { return ag_entry(g, x, k, 0); }
static ag_id angle(void) { return in[3 + dice(2)]; }

static void inputs(void) {
  static const char *const names[] = {"a", "b", "c", "p", "q"};
  for (int i = 0; i < SCALARS; i++) in[i] = ag_input(g, names[i], 1, 1, AG_LEAF_REAL);
  in[SCALARS] = u = ag_input(g, "u", 3, 1, AG_LEAF_REAL);
  in[SCALARS + 1] = w = ag_input(g, "w", 3, 1, AG_LEAF_REAL);
  in[SCALARS + 2] = R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION);
}

static ag_id up(void) { /* R^T e3 */
  ag_id e[3] = {ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)};
  ag_id e3 = ag_stack(g, 3, 1, e), turned = ag_transpose(g, R);
  return mul(turned, e3);
}

static ag_id atom(void) {
  switch (dice(6)) {
  case 0: return sine(angle());
  case 1: return cosine(angle());
  case 2: return part(dice(2) ? u : w, dice(3));
  case 3: return part(up(), dice(3));
  case 4: return ag_dot(g, u, w);
  default: return in[dice(3)];
  }
}

/* A sum of products. */
static ag_id plain(void) {
  ag_id sum = ag_num(g, 0);
  for (int i = 0, n = 1 + dice(3); i < n; i++) {
    ag_id x = ag_num(g, 1 + dice(4));
    for (int k = 0, m = 1 + dice(3); k < m; k++) x = mul(x, atom());
    sum = add(sum, x);
  }
  return sum;
}

static ag_id sum_of_squares(ag_id v) {
  ag_id sum = ag_num(g, 0);
  for (int k = 0; k < 3; k++) sum = add(sum, mul(part(v, k), part(v, k)));
  return sum;
}

/* sin(p + q) cos q - cos(p + q) sin q - sin p = 0 */
static ag_id addition(void) {
  ag_id p = in[3], q = in[4], both = add(p, q), s = mul(sine(both), cosine(q)), c = mul(cosine(both), sine(q));
  return sub(sub(s, c), sine(p));
}

/* u x (w x u) - w (u.u) + u (u.w) = 0, one entry of it */
static ag_id triple(int k) {
  ag_id inner = ag_cross(g, w, u), x = part(ag_cross(g, u, inner), k);
  ag_id y = mul(part(w, k), sum_of_squares(u)), z = mul(part(u, k), ag_dot(g, u, w));
  return add(sub(x, y), z);
}

/* (R^T u).(R^T w) - u.w = 0, by entries */
static ag_id kept(void) {
  ag_id turned = ag_transpose(g, R), x = mul(turned, u), y = mul(turned, w), sum = ag_num(g, 0);
  for (int k = 0; k < 3; k++) sum = add(sum, mul(part(x, k), part(y, k)));
  return sub(sum, ag_dot(g, u, w));
}

/* x written in another way. */
static ag_id disguised(ag_id x) {
  ag_id p = angle(), s = sine(p), c = cosine(p), f = add(in[dice(3)], atom()), z = atom();
  switch (dice(9)) {
  case 0: return mul(x, add(mul(s, s), mul(c, c)));
  case 1: return ag_div(g, mul(x, sub(ag_num(g, 1), mul(s, s))), mul(c, c));
  case 2: return sub(add(x, mul(f, z)), add(mul(z, f), ag_num(g, 0)));
  case 3: return ag_div(g, mul(x, f), f);
  case 4: return mul(x, sum_of_squares(up()));
  case 5: return add(x, mul(kept(), z));
  case 6: return add(x, mul(addition(), in[dice(3)]));
  case 7: return add(x, mul(triple(dice(3)), in[dice(3)]));
  default: { /* a square root times itself */
    ag_id root = ag_apply1(g, AG_OP_SQRT, add(mul(z, z), ag_num(g, 1)));
    return ag_div(g, mul(mul(x, root), root), add(mul(z, z), ag_num(g, 1)));
  }
  }
}

/* Is x zero at random points of both fields? */
static bool vanishes(ag_id x) {
  ag_program *p = ag_program_create(g, SCALARS + 3, in, 1, &x);
  bool zero = true;
  int seen = 0;
  uint64_t at[SCALARS + 6 + 9], out[9];
  for (uint64_t seed = 0; seen < POINTS * AG_FIELD_PRIMES && seed < 200; seed++) {
    ag_field f = ag_field_at((int)(seed % AG_FIELD_PRIMES), seed);
    for (int i = 0; i < SCALARS + 6; i++) at[i] = ag_field_draw(&f);
    ag_field_rotation(&f, at + SCALARS + 6);
    if (ag_field_eval(p, &f, at, out) != AG_FIELD_OK) continue;
    seen++;
    for (int k = 0; k < ag_program_n_out(p); k++) zero = zero && out[k] == 0;
  }
  AG_CHECK(seen == POINTS * AG_FIELD_PRIMES);
  ag_program_free(p);
  return zero;
}

/* How much of the disguise was removed: 1 when the form is no longer than the plain expression. */
static int check(ag_id x, ag_id hidden) {
  ag_id y = hidden;
  ag_normal_form(g, 0, NULL, NULL, 1, &y);
  AG_CHECK(vanishes(sub(y, x)));
  AG_CHECK(vanishes(sub(y, hidden)));
  AG_CHECK(ag_normal_size(g, y) <= ag_normal_size(g, hidden));
  ag_id scale = ag_is_scalar(g, x) ? in[0] : mul(in[0], u);
  AG_CHECK(!vanishes(sub(add(y, scale), x))); /* differences are seen */
  if (ag_normal_size(g, y) > ag_normal_size(g, x)) {
    ag_text t = {0};
    ag_print_formula(g, x, false, &t);
    ag_text_str(&t, "\n   hidden: ");
    ag_print_formula(g, hidden, false, &t);
    ag_text_str(&t, "\n   normal: ");
    ag_print_formula(g, y, false, &t);
    puts(ag_text_cstr(&t));
    ag_text_done(&t);
  }
  return ag_normal_size(g, y) <= ag_normal_size(g, x);
}

/* Vectors: factors of one, a rotation there and back, a triple product. */
static int check_vector(void) {
  ag_id x = add(mul(plain(), u), mul(atom(), ag_cross(g, u, w))), p = angle(), s = sine(p), c = cosine(p);
  ag_id one = add(mul(s, s), mul(c, c)), turned = ag_transpose(g, R), inner = ag_cross(g, w, u);
  ag_id zero = add(sub(ag_cross(g, u, inner), mul(ag_dot(g, u, u), w)), mul(ag_dot(g, u, w), u));
  ag_id there = add(mul(turned, x), mul(turned, zero));
  return check(x, mul(one, mul(R, there)));
}

int main(void) {
  int shown = 0, n = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    g = ag_graph_create();
    state = seed;
    inputs();
    ag_id x = plain(), hidden = disguised(x);
    shown += check(x, hidden), n++;
    hidden = disguised(hidden);
    shown += check(x, hidden), n++;
    if (seed % 5 == 0) shown += check_vector(), n++;
    ag_graph_free(g);
  }
  AG_CHECK(shown == n);
  return ag_check_report();
}
