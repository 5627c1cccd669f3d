#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""motion_test.py PROGRAM READER MODEL...: the printed equations are those of the motion.

What `anagyre show` prints, in every --form, is read as text and evaluated at random states on the constraints. The
accelerations that solve the printed equations are compared with those of the second reader (tests/models/reader.py),
which derives them on its own from the model as the program expands it. READER is the folder of the second reader."""
import re
import subprocess
import sys
import numpy as np

PROGRAM, READER, MODELS = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.path.insert(0, READER)
sys.dont_write_bytecode = True
from language import Eval, Parser
from oracle import STEP
from reader import Model

# Both sides are a few hundred operations on numbers of order 1 and a linear solve; the mass matrices of the models have
# condition numbers up to about 1e4.
TOLERANCE = 1e-10
STATES = 1


def key_of(node):
    """The name of a quantity as it is printed, with primes and one number in brackets; None for anything else."""
    if node[0] == "name":
        return node[1]
    inner = key_of(node[1]) if node[0] in ("prime", "index") else None
    if inner is None or node[0] == "prime":
        return inner and inner + "'"
    return f"{inner}[{node[2][1]:g}]" if len(node) == 3 and node[2][0] == "num" else None


class Page(Eval):
    """Evaluates printed text: quantities by their printed names, then the lines below `where`."""

    def __init__(self, model, env, where, rate=None):
        super().__init__(model, env)
        self.where, self.rate = where, rate

    def jet(self, node, loc):
        key = key_of(node)
        if key in self.env:
            return self.env[key], None
        if node[0] == "prime" and self.rate and key and key[:-1] in self.where:
            if key not in self.memo:
                self.memo[key] = self.rate(key[:-1]), None
            return self.memo[key]
        if key in self.where:
            if key not in self.memo:
                self.memo[key] = self.jet(self.where[key], {})
            return self.memo[key]
        if node[0] == "name" and node[1] in self.m.lets:
            raise NameError(f"{node[1]} is used and not printed")
        return super().jet(node, loc)

    def flat(self, node):
        v = self.value(node)
        return v.reshape(len(v), -1)[0]


class Sheet:
    """The printed equations of one form: headings with their lines."""

    def __init__(self, text):
        self.blocks, at = {}, None
        for line in text.split("# Derived equations\n")[1].splitlines():
            if line.startswith("#   "):
                self.blocks[at].append(line[4:])
            elif line.startswith("# "):
                at = line[2:]
                self.blocks[at] = []
        pairs = [equation(line) for head, lines in self.blocks.items() if head.startswith(("where", "derivatives", "momenta", "forces"))
                 for line in lines]
        self.where = {key_of(left): right for left, right in pairs}

    def pairs(self, start):
        return [equation(line) for head, lines in self.blocks.items() if head.startswith(start) for line in lines
                if line != "none"]


def equation(line):
    p = Parser(line)
    left = p.sum()
    p.need("=")
    right = p.expr()
    assert p.end(), line
    return left, right


def show(path, form):
    done = subprocess.run([PROGRAM, "show", path, "--quiet", "--form", form], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- states ----

def retract(m, q):
    for _, space, _, _, sq, _ in m.slots:
        if space == "SO3":
            u, _, v = np.linalg.svd(q[sq].reshape(3, 3))
            q[sq] = (u @ v).ravel()
        elif space == "S2":
            q[sq] /= np.linalg.norm(q[sq])
    return q


def on_constraints(m, t, q):
    """q moved onto the holonomic and prescribed constraints"""
    rows = [x for kind, x, _ in m.rows if kind == "position"]
    for _ in range(30 if rows else 0):
        at = lambda z: np.concatenate([np.ravel(m.eval(np.full(1, t), z[None], np.zeros((1, m.n))).value(x)[0])
                                       for x in rows])
        gap = at(q)
        if np.abs(gap).max() < 1e-14:
            break
        moves = m.tangent(q, np.eye(m.n))
        J = np.stack([at(q + 1j*STEP*d).imag/STEP for d in moves], 1)
        q = retract(m, q - m.tangent(q, np.linalg.lstsq(J, gap, rcond=1e-10)[0][None])[0])
    return q


def random_state(m, rng):
    t, y = rng.uniform(0.1, 1), m.start()
    q = retract(m, y[:m.nq] + 0.1*rng.standard_normal(m.nq))
    q = on_constraints(m, t, q)
    S, s = (np.real(x) for x in m.constraint(t, q))
    xi = y[m.nq:] + rng.standard_normal(m.n)
    xi = xi - np.linalg.lstsq(S, S @ xi + s, rcond=1e-10)[0] if len(S) else xi
    return t, q, xi


def names(m, t, q, xi):
    """Everything a printed line may name: parameters, coordinates, velocities, time."""
    ev = m.eval(np.full(1, t), q[None], xi[None])
    return ev.env


# ---- the reduced form ----

class Reduced:
    def __init__(self, m, sheet, t, q, xi):
        self.m, self.sheet = m, sheet
        self.listed = [n for n in sheet.blocks["independent velocities"][0].split(", ") if not n.startswith("none")]
        self.velocities = sheet.pairs("velocities in terms")
        self.u = self.find_u(t, q, xi)

    def with_u(self, env, u, prime=""):
        """env with the independent velocities (or, with a prime, their rates) by entries and as whole vectors"""
        groups = {}
        for name, value in zip(self.listed, u):
            env[name + prime] = np.full(1, value)
            base, _, k = name.rpartition("[")
            if base:
                env[f"{base}{prime}[{k}"] = np.full(1, value)  # the rate of Omega[1] is Omega'[1]
                groups.setdefault(base, []).append((int(k[:-1]), value))
        for base, parts in groups.items():
            whole = next((k for _, _, k, vel, _, _ in self.m.slots if vel == base), len(parts))
            if [k for k, _ in parts] == list(range(1, whole + 1)):
                env[base + prime] = np.array([[v for _, v in parts]])
        return env

    def xi_of(self, t, q, u):
        """all velocities from the printed lines"""
        m, kind = self.m, complex if np.iscomplexobj(u) or np.iscomplexobj(q) else float
        env = self.with_u({k: v for k, v in names(m, t, q, np.zeros(m.n)).items()
                           if k not in [s[3] for s in m.slots]}, u)
        page, out = Page(m, env, self.sheet.where), np.zeros(m.n, kind)
        seen = np.zeros(m.n, bool)
        for _, space, k, vel, _, sv in m.slots:
            for left, right in self.velocities:
                key = key_of(left)
                if key == vel:
                    out[sv], seen[sv] = page.flat(right), True
                elif key and key.startswith(vel + "["):
                    i = sv.start + int(key[len(vel) + 1:-1]) - 1
                    out[i], seen[i] = page.flat(right)[0], True
            if not seen[sv].all():
                assert vel in env, f"{vel} is neither independent nor printed"
                out[sv] = np.ravel(env[vel])
        return out

    def find_u(self, t, q, xi):
        n = len(self.listed)
        base = self.xi_of(t, q, np.zeros(n))
        B = np.stack([self.xi_of(t, q, e) - base for e in np.eye(n)], 1) if n else np.zeros((len(xi), 0))
        u = np.linalg.lstsq(B, xi - base, rcond=None)[0]
        gap = np.abs(base + B @ u - xi).max()
        assert gap < TOLERANCE*max(1, np.abs(xi).max()), f"velocities are off by {gap:.1e}"
        return u

    def rates(self, t, q, xi):
        """u' that solves the printed equations"""
        n, m = len(self.listed), self.m
        pairs = self.sheet.pairs("equations of motion")

        def residual(du):
            env = self.with_u(names(m, t, q, xi), self.u)
            accel = self.velocity_rates(t, q, xi, du)
            for _, space, k, vel, _, sv in m.slots:
                env[vel + "'"] = np.full(1, accel[sv.start]) if space in ("R", "S1") else accel[sv][None]
            page = Page(m, self.with_u(env, du, "'"), self.sheet.where, lambda name: self.rate(name, t, q, xi, du, accel))
            return np.concatenate([page.flat(a) - page.flat(b) for a, b in pairs])
        r = residual(np.zeros(n))
        A = np.stack([residual(e) - r for e in np.eye(n)], 1)
        assert A.shape == (n, n), f"{A.shape[0]} equations for {n} unknowns"
        return np.linalg.solve(A, -r)

    def velocity_rates(self, t, q, xi, du):
        qdot = self.m.tangent(q, xi[None])[0]
        return self.xi_of(t + 1j*STEP, q + 1j*STEP*qdot, self.u + 1j*STEP*du).imag/STEP

    def rate(self, name, t, q, xi, du, accel):
        """the total time derivative of a quantity that is defined on the page, such as a momentum"""
        qdot, h = self.m.tangent(q, xi[None])[0], 1j*STEP
        env = self.with_u(names(self.m, t + h, q + h*qdot, xi + h*accel), self.u + h*du)
        return Page(self.m, env, self.sheet.where).value(self.sheet.where[name]).imag/STEP

    def accelerations(self, t, q, xi):
        return self.velocity_rates(t, q, xi, self.rates(t, q, xi) if self.listed else np.zeros(0))


def check_reduced(m, sheet, t, q, xi, accel):
    form = Reduced(m, sheet, t, q, xi)
    yield "accelerations", form.accelerations(t, q, xi), accel
    env = form.with_u(names(m, t, q, xi), form.u)
    (_, energy), = sheet.pairs("energy")
    yield "energy", Page(m, env, sheet.where).flat(energy)[0], m.last["p"] @ xi - m.last["l"]


# ---- the other forms ----

def check_multipliers(m, sheet, t, q, xi, accel):
    """With the accelerations of the motion there are multipliers that solve the printed equations."""
    env = names(m, t, q, xi)
    for _, space, k, vel, _, sv in m.slots:
        env[vel + "'"] = np.full(1, accel[sv.start]) if space in ("R", "S1") else accel[sv][None]
    pairs, n = sheet.pairs("equations of motion"), len(m.last["S"])

    def residual(lam):
        env["lambda"] = lam[None] if len(lam) > 1 else lam
        page = Page(m, env, sheet.where)
        return np.concatenate([page.flat(a) - page.flat(b) for a, b in pairs])
    r = residual(np.zeros(n)) if n else residual(np.zeros(1))
    A = np.stack([residual(e) - r for e in np.eye(n)], 1) if n else np.zeros((m.n, 0))
    assert len(r) == m.n, f"{len(r)} equations for {m.n} velocities"
    yield "equations with multipliers", A @ np.linalg.lstsq(A, -r, rcond=None)[0] + r, 0*r
    yield from check_constraints(m, sheet, t, q, xi, accel)


def check_constraints(m, sheet, t, q, xi, accel):
    page = Page(m, names(m, t, q, xi), sheet.where)
    pairs = sheet.pairs("constraints")
    given = [x for kind, x, who in m.rows if not (kind == "position" and who is None and unit_row(m, x))]
    assert len(pairs) >= len(given), f"{len(pairs)} constraints printed, {len(given)} in the model"
    for left, right in pairs:
        yield "constraint", page.flat(left), page.flat(right)


def unit_row(m, x):
    return x[0] == "-" and x[1][:2] == ("call", "dot") and any(s[1] == "S2" and s[0] == x[1][2][1] for s in m.slots)


def check_lagrangian(m, sheet, t, q, xi, accel):
    (_, x), = sheet.pairs("Lagrangian")
    yield "Lagrangian", Page(m, names(m, t, q, xi), sheet.where).flat(x)[0], m.last["l"]


FORMS = {"reduced": check_reduced, "multipliers": check_multipliers, "constraints": check_constraints,
         "lagrangian": check_lagrangian}


def check(path, rng):
    texts = {form: show(path, form) for form in FORMS}
    m = Model(texts["reduced"].split("# Derived equations\n")[0])
    worst = 0
    for _ in range(STATES):
        t, q, xi = random_state(m, rng)
        accel = m.solve(t, q, xi)
        for form, compare in FORMS.items():
            for what, printed, expected in compare(m, Sheet(texts[form]), t, q, xi, accel):
                size = max(1, np.max(np.abs(accel)), np.max(np.abs(expected), initial=0))
                error = np.max(np.abs(printed - expected), initial=0)/size
                worst = max(worst, error)
                if not error <= TOLERANCE:
                    yield f"{form}: {what} off by {error:.1e}"
    print(f"{path}: {worst:.1e}", flush=True)


def main():
    wrong = []
    for path in MODELS:
        rng = np.random.default_rng(7)
        try:
            wrong += [f"{path}: {what}" for what in check(path, rng)]
        except Exception as e:  # text that cannot be read is a finding, too
            wrong.append(f"{path}: {type(e).__name__}: {e}")
    print("\n".join(wrong) or "every printed equation is that of the motion")
    return bool(wrong)


sys.exit(main())
