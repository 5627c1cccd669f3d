/* SPDX-License-Identifier: MIT
 * Moving on a product of factors: a part of steppers' texts (step_text.h), after factor.h. Needs, besides what is
 * listed there, v_sin, v_cos and
 *   AG_STEP_M           number of tangent coordinates
 *   AG_STEP_N_FACTOR    how many factors; AG_STEP_FACTOR(i): factor i, an ag_factor
 * Conventions: math/lie.h. */

/* out = q exp(d), quaternions (w, x, y, z). */
AG_STEP_QUALIFIER void AG_STEP_FN(turn)(const V *q, const V *d, V *out) {
  const V square = v_fma(d[2], d[2], v_fma(d[1], d[1], d[0] * d[0])), angle = v_sqrt(square), half = 0.5 * angle;
  const VI tiny = m_lt(square, v_set(1e-12));
  const V by = v_blend(tiny, v_fma(square, v_set(-1.0 / 48), v_set(0.5)), v_sin(half) / v_blend(tiny, v_set(1), angle));
  const V w = v_cos(half), x = by * d[0], y = by * d[1], z = by * d[2];
  out[0] = v_fma(-q[3], z, v_fma(-q[2], y, v_fma(-q[1], x, q[0] * w)));
  out[1] = v_fma(-q[3], y, v_fma(q[2], z, v_fma(q[1], w, q[0] * x)));
  out[2] = v_fma(q[3], x, v_fma(q[2], w, v_fma(-q[1], z, q[0] * y)));
  out[3] = v_fma(q[3], w, v_fma(-q[2], x, v_fma(q[1], y, q[0] * z)));
}

/* out = exp(-d) v = v + sin(x)/x v x d + (1 - cos x)/x^2 (v x d) x d,  x = |d|. */
AG_STEP_QUALIFIER void AG_STEP_FN(turn_image)(const V *v, const V *d, V *out) {
  const V square = v_fma(d[2], d[2], v_fma(d[1], d[1], d[0] * d[0])), x = v_sqrt(square), s = v_sin(0.5 * x);
  const VI tiny = m_lt(square, v_set(1e-4));
  const V safe = v_blend(tiny, v_set(1), square);
  const V sine = v_fma(square, v_fma(square, v_set(1.0 / 120), v_set(-1.0 / 6)), v_set(1));
  const V cosine = v_fma(square, v_fma(square, v_set(1.0 / 720), v_set(-1.0 / 24)), v_set(0.5));
  const V first = v_blend(tiny, sine, v_sin(x) / v_blend(tiny, v_set(1), x));
  const V second = v_blend(tiny, cosine, 2.0 * s * s / safe);
  const V a = v_fma(v[1], d[2], -(v[2] * d[1])), b = v_fma(v[2], d[0], -(v[0] * d[2]));
  const V c = v_fma(v[0], d[1], -(v[1] * d[0]));
  const V aa = v_fma(b, d[2], -(c * d[1])), bb = v_fma(c, d[0], -(a * d[2])), cc = v_fma(a, d[1], -(b * d[0]));
  out[0] = v_fma(second, aa, v_fma(first, a, v[0]));
  out[1] = v_fma(second, bb, v_fma(first, b, v[1]));
  out[2] = v_fma(second, cc, v_fma(first, c, v[2]));
}

/* out = z moved by scale d. */
AG_STEP_QUALIFIER void AG_STEP_FN(move)(AG_STEP_FLOW AG_STEP_SIZE const V *z, V scale, const V *d, V *out) {
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind == AG_FACTOR_QUATERNION) {
      const V by[3] = {scale * d[p.d], scale * d[p.d + 1], scale * d[p.d + 2]};
      AG_STEP_FN(turn)(z + p.z, by, out + p.z);
    } else if (p.kind == AG_FACTOR_IMAGE) {
      const V by[3] = {scale * d[p.d], scale * d[p.d + 1], scale * d[p.d + 2]};
      AG_STEP_FN(turn_image)(z + p.z, by, out + p.z);
    } else {
      for (int k = 0; k < p.n; k++) out[p.z + k] = v_fma(scale, d[p.d + k], z[p.z + k]);
    }
  }
}

/* The rate dz at z in tangent coordinates: of a rotation the angular velocity in the body, 2 q* q' / |q|^2. */
AG_STEP_QUALIFIER void AG_STEP_FN(tangent)(AG_STEP_FLOW AG_STEP_SIZE const V *z, const V *dz, V *d) {
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    const V *q = z + p.z, *r = dz + p.z;
    V *w = d + p.d;
    if (p.kind == AG_FACTOR_QUATERNION) {
      const V by = 2.0 / v_fma(q[3], q[3], v_fma(q[2], q[2], v_fma(q[1], q[1], q[0] * q[0])));
      w[0] = by * v_fma(q[3], r[2], v_fma(-q[2], r[3], v_fma(-q[1], r[0], q[0] * r[1])));
      w[1] = by * v_fma(-q[3], r[1], v_fma(-q[2], r[0], v_fma(q[1], r[3], q[0] * r[2])));
      w[2] = by * v_fma(-q[3], r[0], v_fma(q[2], r[1], v_fma(-q[1], r[2], q[0] * r[3])));
    } else if (p.kind == AG_FACTOR_VECTOR) {
      for (int k = 0; k < p.n; k++) w[k] = r[k];
    }
  }
}

/* by[0], by[1] of D(e) = 1 - by[0] hat(e) + by[1] hat(e)^2, which takes d to that of exp(e + d) = exp(e) exp(D d +
 * ...): (1 - cos x) / x^2, (x - sin x) / x^3,  x = |e|. */
AG_STEP_QUALIFIER void AG_STEP_FN(dexp)(const V *e, V *by) {
  const V square = v_fma(e[2], e[2], v_fma(e[1], e[1], e[0] * e[0])), x = v_sqrt(square);
  const VI tiny = m_lt(square, v_set(1e-4));
  const V safe = v_blend(tiny, v_set(1), square), s = v_sin(0.5 * x);
  const V series = v_fma(square, v_fma(square, v_set(1.0 / 5040), v_set(-1.0 / 120)), v_set(1.0 / 6));
  by[0] = v_blend(tiny, v_fma(square, v_set(-1.0 / 24), v_set(0.5)), 2.0 * s * s / safe);
  by[1] = v_blend(tiny, series, (1.0 - v_sin(x) / v_blend(tiny, v_set(1), x)) / safe);
}

/* A row (a, b, c) of a matrix times D(e), with the numbers of dexp(). */
AG_STEP_QUALIFIER void AG_STEP_FN(times_dexp)(const V *e, const V *by, V *row) {
  /* row hat(e) = row x e, twice */
  const V a = v_fma(row[1], e[2], -(row[2] * e[1])), b = v_fma(row[2], e[0], -(row[0] * e[2]));
  const V c = v_fma(row[0], e[1], -(row[1] * e[0]));
  const V aa = v_fma(b, e[2], -(c * e[1])), bb = v_fma(c, e[0], -(a * e[2])), cc = v_fma(a, e[1], -(b * e[0]));
  row[0] = v_fma(by[1], aa, v_fma(-by[0], a, row[0]));
  row[1] = v_fma(by[1], bb, v_fma(-by[0], b, row[1]));
  row[2] = v_fma(by[1], cc, v_fma(-by[0], c, row[2]));
}

/* v = D(e)^-1 v: the rate of d in exp(e + d) for the angular velocity v in the body,
 *   v + e x v / 2 + (1 - x/2 cot x/2) / x^2 e x (e x v),  x = |e|. */
AG_STEP_QUALIFIER void AG_STEP_FN(dexp_inverse)(const V *e, V *v) {
  const V square = v_fma(e[2], e[2], v_fma(e[1], e[1], e[0] * e[0])), half = 0.5 * v_sqrt(square);
  const VI small = m_lt(square, v_set(1e-2));
  const V series = v_fma(square,
                         v_fma(square, v_fma(square, v_set(1.0 / 1209600), v_set(1.0 / 30240)), v_set(1.0 / 720)),
                         v_set(1.0 / 12));
  const V cot = v_cos(half) / v_blend(small, v_set(1), v_sin(half));
  const V second = v_blend(small, series, v_fma(-half, cot, v_set(1)) / v_blend(small, v_set(1), square));
  const V a = v_fma(e[1], v[2], -(e[2] * v[1])), b = v_fma(e[2], v[0], -(e[0] * v[2]));
  const V c = v_fma(e[0], v[1], -(e[1] * v[0]));
  const V aa = v_fma(e[1], c, -(e[2] * b)), bb = v_fma(e[2], a, -(e[0] * c)), cc = v_fma(e[0], b, -(e[1] * a));
  v[0] = v_fma(second, aa, v_fma(v_set(0.5), a, v[0]));
  v[1] = v_fma(second, bb, v_fma(v_set(0.5), b, v[1]));
  v[2] = v_fma(second, cc, v_fma(v_set(0.5), c, v[2]));
}
