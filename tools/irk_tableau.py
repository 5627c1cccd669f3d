#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints src/step/irk_tableau.h: implicit Runge-Kutta methods from their definitions, in 60 digits, rounded once.

usage: tools/irk_tableau.py > src/step/irk_tableau.h      (needs mpmath; nothing else does)

Nodes are zeros of Legendre polynomials and their relatives; A follows from the simplifying assumptions C(s), C(s-1) or
D(s). irk_test.c checks what is printed against the order conditions and does not know how it was made.
"""
import textwrap

import mpmath as mp

mp.mp.dps = 60


def zeros(coefficients):
    """Real zeros in [0, 1] of a polynomial, highest power first."""
    found = mp.polyroots(coefficients, maxsteps=500, extraprec=400)
    return sorted(mp.re(x) for x in found)


def derivative(power, s):
    """Coefficients of d^power/dx^power x^i (x-1)^j for (i, j) = s, highest power first."""
    i, j = s
    p = [mp.mpf(0)] * (i + j + 1)
    for k in range(j + 1):
        p[i + k] = mp.binomial(j, k) * (-1) ** (j - k)
    for _ in range(power):
        p = [k * p[k] for k in range(1, len(p))]
    return p[::-1]


def nodes(kind, s):
    if kind == "gauss":
        return zeros(derivative(s, (s, s)))
    if kind == "radau":
        return zeros(derivative(s - 1, (s - 1, s)))
    return zeros(derivative(s - 2, (s - 1, s - 1)))


def quadrature(c):
    n = len(c)
    V = mp.matrix(n, n)
    for q in range(n):
        for j in range(n):
            V[q, j] = c[j] ** q
    return V, list(mp.lu_solve(V, mp.matrix([mp.mpf(1) / (q + 1) for q in range(n)])))


def collocation(c):
    """C(s): sum_j a_ij c_j^(q-1) = c_i^q / q."""
    n, (V, _) = len(c), quadrature(c)
    A = mp.matrix(n, n)
    for i in range(n):
        row = mp.lu_solve(V, mp.matrix([c[i] ** (q + 1) / (q + 1) for q in range(n)]))
        for j in range(n):
            A[i, j] = row[j]
    return A


def lobatto3b(c, b):
    """D(s): sum_i b_i c_i^(q-1) a_ij = b_j (1 - c_j^q) / q."""
    n, (V, _) = len(c), quadrature(c)
    A = mp.matrix(n, n)
    for j in range(n):
        column = mp.lu_solve(V, mp.matrix([b[j] * (1 - c[j] ** (q + 1)) / (q + 1) for q in range(n)]))
        for i in range(n):
            A[i, j] = column[i] / b[i]
    return A


def lobatto3c(c, b):
    """a_i1 = b_1, and C(s-1)."""
    n = len(c)
    A = mp.matrix(n, n)
    V = mp.matrix(n, n)
    V[0, 0] = 1
    for q in range(n - 1):
        for j in range(n):
            V[q + 1, j] = c[j] ** q
    for i in range(n):
        row = mp.lu_solve(V, mp.matrix([b[0]] + [c[i] ** (q + 1) / (q + 1) for q in range(n - 1)]))
        for j in range(n):
            A[i, j] = row[j]
    return A


def modes(A):
    """A = T M T^-1: real eigenvalues, complex pairs, those that are 0; T by columns, a pair as real and imaginary part.

    For mu = re + i im and its vector x + i y: A x = re x - im y, A y = im x + re y."""
    n = A.rows
    values, vectors = mp.eig(A)
    real, pair, zero = [], [], []
    for k in range(n):
        v = vectors[:, k]
        if abs(values[k]) < mp.mpf(10) ** -30:
            zero.append([mp.re(x) for x in v])
        elif abs(mp.im(values[k])) < mp.mpf(10) ** -30:
            v = v / v[n - 1]
            real.append((mp.re(values[k]), [mp.re(x) for x in v]))
        elif mp.im(values[k]) > 0:
            v = v / v[n - 1]
            pair.append((values[k], [mp.re(x) for x in v], [mp.im(x) for x in v]))
    pair.sort(key=lambda p: mp.im(p[0]))
    columns = [v for _, v in real] + [w for _, x, y in pair for w in (x, y)] + zero
    T = mp.matrix(n, n)
    for j, column in enumerate(columns):
        for i in range(n):
            T[i, j] = column[i]
    return [m for m, _ in real], [m for m, _, _ in pair], T, mp.inverse(T)


def dense_weights(c):
    """Coefficients 3, 4, ... of the nested form of the integral of the polynomial through rates at 0, c, 1."""
    x = [mp.mpf(0)] + list(c) + [mp.mpf(1)]
    used = [i for i in range(len(x)) if x.index(x[i]) == i]
    n = len(used)
    degree = n
    rows = []
    # the basis of the nested form: theta, theta (1-theta), theta^2 (1-theta), theta^2 (1-theta)^2, ...
    basis = []
    p = [mp.mpf(0), mp.mpf(1)]
    for m in range(degree):
        basis.append(p)
        by = [1, -1] if m % 2 == 0 else [0, 1]
        new = [mp.mpf(0)] * (len(p) + 1)
        for i, a in enumerate(p):
            new[i] += by[0] * a
            new[i + 1] += by[1] * a
        p = new
    M = mp.matrix(n, degree)
    for k, i in enumerate(used):
        for m in range(degree):
            M[k, m] = sum(q * a * x[i] ** (q - 1) for q, a in enumerate(basis[m]) if q)
    inverse = mp.inverse(M)
    for m in range(3, degree):
        row = [mp.mpf(0)] * len(x)
        for k, i in enumerate(used):
            row[i] = inverse[m, k]
        rows.append(row)
    return rows


def number(x):
    x = mp.mpf(x)
    if abs(x) < mp.mpf(10) ** -40:
        return "0.0"
    text = repr(float(mp.nstr(x, 40)))
    return text


def vector(v):
    return "{" + ", ".join(number(x) for x in v) + "}"


def matrix(A):
    rows = [vector([A[i, j] for j in range(A.cols)]) for i in range(A.rows)]
    return "{" + ", ".join(rows) + "}"


def method(name, doc, c, A, b, other=None, at=0.5, gamma=None, dense=False):
    s = len(c)
    real, pair, T, TI = modes(A)
    rows = dense_weights(c) if dense else []
    fields = [("s", s), ("real", len(real)), ("pair", len(pair)), ("estimate", int(gamma is not None)),
              ("degree", 3 + len(rows)), ("at", number(at)), ("gamma", number(gamma or 0)), ("c", vector(c)), ("b", vector(b)),
              ("a", "{" + matrix(A) + ", " + matrix(other if other is not None else A) + "}"),
              ("T", matrix(T)), ("TI", matrix(TI))]
    shifts = real + ([gamma] if gamma is not None and not real else [])
    if shifts:
        fields.append(("mu", vector(shifts)))
    if pair:
        fields += [("re", vector([mp.re(m) for m in pair])), ("im", vector([mp.im(m) for m in pair]))]
    if gamma is not None:  # weights of order s with gamma at the start
        V, _ = quadrature(c)
        hat = mp.lu_solve(V, mp.matrix([mp.mpf(1) / (q + 1) - (gamma if q == 0 else 0) for q in range(s)]))
        fields.append(("e", vector([hat[j] - b[j] for j in range(s)])))
    if rows:
        fields.append(("d", "{" + ", ".join(vector(r) for r in rows) + "}"))
    text = f"#define AG_IRK_{name} {{" + ", ".join(f".{k} = {v}" for k, v in fields) + "}"
    print(f"\n/* {doc} */")
    print(" \\\n".join(textwrap.wrap(text, 116, subsequent_indent="  ", break_long_words=False)))


HEAD = """/* SPDX-License-Identifier: MIT
 * The tableaux of the implicit Runge-Kutta methods: read by irk_core.h and irk.c, embedded into compiled kernels. Made
 * by tools/irk_tableau.py; irk_test.c checks the order conditions. It includes nothing. */
#ifndef AG_STEP_IRK_TABLEAU_H
#define AG_STEP_IRK_TABLEAU_H
enum { AG_IRK_MAX = 6 };

typedef struct ag_irk {
  int s;          /* stages */
  int real, pair; /* A = T M TI, M with `real` eigenvalues mu, then `pair` complex pairs re + i im (two columns of T:
                     real and imaginary part), then zeros: for Newton's method alone */
  int estimate;   /* 1: the error is (1 - gamma h J)^-1 (gamma h f0 + sum e_j k_j) */
  int degree;     /* of the dense output, 3 at least */
  double at;      /* where in the step the Jacobian is evaluated */
  double gamma, c[AG_IRK_MAX], b[AG_IRK_MAX];
  double a[2][AG_IRK_MAX][AG_IRK_MAX]; /* A; the matrix for velocities, another one in partitioned methods */
  double T[AG_IRK_MAX][AG_IRK_MAX], TI[AG_IRK_MAX][AG_IRK_MAX], mu[2], re[3], im[3];
  double e[AG_IRK_MAX];
  double d[5][AG_IRK_MAX + 2]; /* rows m = 3 .. degree - 1: weights of coefficient m, of f0, the stages, f1 */
} ag_irk;

/* Numbers that a method carries on from step to step, of n components: those that test their steps (irk_core.h). */
#define AG_IRK_CARRIES(irk, n) ((irk)->estimate ? (irk)->s * (n) + 1 : 0)

/* clang-format off */"""


def main():
    print(HEAD)
    for s in range(2, 7):
        c = nodes("gauss", s)
        _, b = quadrature(c)
        method(f"gauss{s}", f"Gauss, {s} stages: order {2 * s}.", c, collocation(c), b, dense=s >= 3)
    for s in (1, 2, 3, 5):
        c = [mp.mpf(1)] if s == 1 else nodes("radau", s)
        c[-1] = mp.mpf(1)
        _, b = quadrature(c)
        A = collocation(c)
        real, _, _, _ = modes(A)
        gamma = real[0] if real else 1 / mp.sqrt(6)
        method(f"radau{s}", f"Radau IIA, {s} stages: order {2 * s - 1}.", c, A, b, at=0, gamma=gamma, dense=s >= 3)
    for s in (2, 3, 4):
        c = [mp.mpf(0), mp.mpf(1)] if s == 2 else nodes("lobatto", s)
        c[0], c[-1] = mp.mpf(0), mp.mpf(1)
        _, b = quadrature(c)
        A, B, C = collocation(c), lobatto3b(c, b), lobatto3c(c, b)
        name = "trapezoid" if s == 2 else f"lobatto3a{s}"
        method(name, f"Lobatto IIIA, {s} stages: order {2 * s - 2}.", c, A, b, dense=s >= 4)
        method(f"lobatto3b{s}", f"Lobatto IIIB, {s} stages: order {2 * s - 2}.", c, B, b)
        method(f"lobatto3c{s}", f"Lobatto IIIC, {s} stages: order {2 * s - 2}.", c, C, b)
        method(f"lobatto3ab{s}", f"Lobatto IIIA for positions, IIIB for velocities, {s} stages: order {2 * s - 2}.", c, A, b, B)
    print("/* clang-format on */\n#endif")


main()
