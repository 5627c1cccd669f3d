#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the polynomials of vmath.h and prints them, with the 1200 bits of 2/pi and the split constants.

Each function f is written f(x) = leading terms + (weight) * g(z); g is approximated by a polynomial whose error times
the weight is smallest (Remez exchange on a grid, 90-digit decimals). The coefficients are then rounded to doubles one
after the other, lowest first, the rest being fitted again each time, so that rounding costs almost nothing.
Run it to see the coefficients and the error (in bits, relative to f) that vmath.h states."""
import math
from decimal import Decimal as D, getcontext

getcontext().prec = 90


def series(term_ratio, first, x, tiny=D(10) ** -88):
    """Sum of a power series given its first term and the ratio of successive terms ratio(k, x)."""
    total, term, k = D(0), D(first), 0
    while abs(term) > tiny:
        total += term
        k += 1
        term *= term_ratio(k, x)
    return total


# (function - leading terms) / weight as power series: no cancellation
def g_sin(z): return series(lambda k, x: -x / ((2 * k + 2) * (2 * k + 3)), D(-1) / 6, z)
def g_cos(z): return series(lambda k, x: -x / ((2 * k + 3) * (2 * k + 4)), D(1) / 24, z)
def g_exp(r): return series(lambda k, x: x / (k + 2), D(1) / 2, r)
def g_sinh(z): return series(lambda k, x: x / ((2 * k + 2) * (2 * k + 3)), D(1) / 6, z)
def g_log(z): return series(lambda k, x: x * (2 * k + 1) / (2 * k + 3), D(2) / 3, z)
def g_pow(z): return series(lambda k, x: x * (2 * k + 3) / (2 * k + 5), D(2) / 5, z)
def g_atan(z): return series(lambda k, x: -x * (2 * k + 1) / (2 * k + 3), D(-1) / 3, z)
def g_asin(z): return series(lambda k, x: x * (2 * k + 1) ** 2 / ((2 * k + 2) * (2 * k + 3)), D(1) / 6, z)


def solve(a, b):
    n = len(b)
    m = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            q = m[r][i] / m[i][i]
            if q:
                for c in range(i, n + 1):
                    m[r][c] -= q * m[i][c]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


def remez(grid, target, weight, n):
    """Minimax polynomial with n coefficients on the grid; returns them and the largest weighted error."""
    size = len(grid)
    pick = [(size - 1) * i // n for i in range(n + 1)]
    basis = [[x ** k if k else D(1) for k in range(n)] for x in grid]
    best, least = None, None
    for _ in range(40):
        a = [basis[i] + [D(-1) ** j / weight[i]] for j, i in enumerate(pick)]
        c = solve(a, [target[i] for i in pick])[:n]
        err = [(sum(u * v for u, v in zip(c, row)) - t) * w for row, t, w in zip(basis, target, weight)]
        worst = max(abs(e) for e in err)
        if least is None or worst < least:
            best, least = c, worst
        runs, start = [], 0
        for i in range(1, size + 1):
            if i == size or (err[i] > 0) != (err[start] > 0):
                runs.append(max(range(start, i), key=lambda k: abs(err[k])))
                start = i
        while len(runs) > n + 1:
            runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
        if len(runs) < n + 1 or runs == pick:
            break
        pick = runs
    return best, least


def fit(name, g, weight, lo, hi, n):
    size = 40 * n
    lo, hi = D(lo), D(hi)
    cosines = [series(lambda k, x: -x / ((2 * k - 1) * (2 * k)), 1, (PI * i / (size - 1)) ** 2) for i in range(size)]
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * c for c in cosines]
    grid = [x if abs(x) > hi * D("1e-3") else hi * D("1e-3") for x in grid]
    w = [weight(x) for x in grid]
    rest, done = [g(x) for x in grid], []
    for k in range(n):
        c, _ = remez(grid, rest, w, n - k)
        done.append(float(c[0]))
        # what is left, divided by x: the next coefficient comes first again
        rest = [(t - D(done[-1])) / x for t, x in zip(rest, grid)]
        w = [v * abs(x) for v, x in zip(w, grid)]
    worst = max(abs(t * v) for t, v in zip(rest, w))
    bits = worst.ln() / D(2).ln()
    print(f"/* {name}: {n} coefficients on [{float(lo):.4g}, {float(hi):.4g}], error 2^{float(bits):.1f} */")
    print("  " + ", ".join(c.hex() for c in done))


def split(name, x, *sizes):
    """x as a sum of doubles with so many bits each; less than 53: cut off, not rounded."""
    out = []
    for bits in sizes:
        v = float(x)
        if bits < 53:
            m, e = math.frexp(v)
            v = math.ldexp(int(math.ldexp(m, bits)), e - bits)
        out.append(v)
        x -= D(v)
    print(f"/* {name} */ " + ", ".join(v.hex() for v in out))


def arctan_inverse(n): return series(lambda k, x: -x * (2 * k - 1) / (2 * k + 1), D(1) / n, D(1) / (n * n), D(10) ** -450)


getcontext().prec = 460
LONG_PI = 16 * arctan_inverse(5) - 4 * arctan_inverse(239)
TWO_OVER_PI = int(2 / LONG_PI * D(2) ** 1216)
getcontext().prec = 90
PI = +LONG_PI

if __name__ == "__main__":
    quarter = float((PI / 4) ** 2) * 1.001
    half_log = D(2).ln() / 2 * D("1.001")
    s_max = (D(2).sqrt() - 1) / (D(2).sqrt() + 1)
    tan8 = D(2).sqrt() - 1
    fit("sin", g_sin, lambda z: z, 0, quarter, 6)
    fit("cos", g_cos, lambda z: z * z, 0, quarter, 6)
    fit("exp", g_exp, lambda r: r * r, -half_log, half_log, 11)
    fit("log", g_log, lambda z: z, 0, s_max ** 2 * D("1.001"), 7)
    fit("pow log", g_pow, lambda z: z * z / 2, 0, s_max ** 2 * D("1.001"), 8)
    fit("atan", g_atan, lambda z: z, 0, tan8 ** 2 * D("1.001"), 11)
    fit("asin", g_asin, lambda z: z, 0, "0.25", 13)
    fit("sinh", g_sinh, lambda z: z, 0, 1, 7)
    split("pi/2", PI / 2, 53, 53)
    split("pi/2, second part 32 bits", PI / 2, 53, 32, 53)
    split("2/pi", 2 / PI, 53)
    split("ln 2", D(2).ln(), 53, 53)
    split("ln 2, first part 32 bits", D(2).ln(), 32, 53)
    split("1/ln 2", 1 / D(2).ln(), 53)
    split("2/3", D(2) / 3, 53, 53)
    split("tan(pi/8)", tan8, 53)
    words = [(TWO_OVER_PI >> (1216 - 64 * (i + 1))) & (2 ** 64 - 1) for i in range(19)]
    print("/* 2/pi, 64 bits per word */\n  " + ", ".join(f"0x{w:016x}" for w in words))
