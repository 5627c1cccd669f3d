#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A slow second opinion on the equations of motion (docs/theory/1-formalism.md) that judges the program. Needs numpy.

Mechanics: a system is given by functions of (q, t): mass matrix M, linear term b, potential V, constraint rows S and
s, and by a force F(q, xi, t). q is a list with one number per flat factor ('R') and one 3x3 matrix per rotation
('SO3'). Derivatives are taken by complex steps, so that no derivative formula is shared with the program. The
accelerations come from the saddle system (multipliers), never from elimination.

Motion: Motion integrates any dy/dt = f(t, y) by extrapolation of the modified midpoint rule (Gragg, Bulirsch, Stoer),
a method that shares nothing with Runge-Kutta tables, at tolerances near rounding. Steps end at the corners of f."""
import numpy as np

STEP = 1e-40  # imaginary step: derivatives are exact to rounding


def hat(w):
    z = 0*w[0]
    return np.array([[z, -w[2], w[1]], [w[2], z, -w[0]], [-w[1], w[0], z]])


def cross(a, b):
    return hat(a) @ b


class Corner:
    """Where a right-hand side passes from one formula to another: value(x) = 0, x = place(y). Formulas ask above(x). A
    motion holds the answer during a step, so that it sees one smooth formula, and changes it where value vanishes."""

    def __init__(self, value, place):
        self.value, self.place, self.held = value, place, None

    def above(self, x):
        return bool(np.real(self.value(x)) > 0) if self.held is None else self.held

    def distance(self, t, y):
        return float(self.value(self.place(y)))


class Motion:
    """Extrapolated midpoint rule, steps chosen by the difference of the last two columns."""
    substeps = [2, 4, 6, 8, 10, 12, 14, 16]

    def __init__(self, f, t, y, tol=1e-13, h=0.05, h_max=0.5, corners=()):
        self.f, self.t, self.y = f, float(t), np.array(y, float)
        self.tol, self.h, self.h_max = tol, h, h_max
        self.calls, self.corners = 0, corners

    def midpoint(self, t, y, f0, h, n):
        d = h/n
        a, b = y, y + d*f0
        for i in range(1, n):
            a, b = b, a + 2*d*self.f(t + i*d, b)
        self.calls += n
        return 0.5*(a + b + d*self.f(t + h, b))

    def attempt(self, h, t=None, y=None, f0=None):
        """the extrapolated end value and its error estimate"""
        t, y = (self.t, self.y) if t is None else (t, y)
        f0 = self.f(t, y) if f0 is None else f0
        row = []
        for k, n in enumerate(self.substeps):
            new = [self.midpoint(t, y, f0, h, n)]
            for j in range(1, k + 1):
                ratio = (n/self.substeps[k - j])**2 - 1
                new.append(new[j - 1] + (new[j - 1] - row[j - 1])/ratio)
            row = new
        return row[-1], np.max(np.abs(row[-1] - row[-2])/(1 + np.abs(y)))

    def step(self, limit):
        """one accepted step towards limit; keeps the step's start for events"""
        sign = 1 if limit > self.t else -1
        f0 = self.f(self.t, self.y)
        while True:
            h = sign*min(self.h, self.h_max, abs(limit - self.t))
            y, err = self.attempt(h, f0=f0)
            good = bool(np.isfinite(err)) and err <= self.tol
            factor = min(3, max(0.2, 0.9*(self.tol/max(err, 1e-300))**(1/15))) if np.isfinite(err) else 0.2
            if good:
                self.t_old, self.y_old = self.t, self.y
                self.t, self.y = (limit if abs(h) >= abs(limit - self.t) else self.t + h), y
                if abs(h) >= 0.99*min(self.h, self.h_max) or factor < 1:
                    self.h = abs(h)*factor
                return
            self.h = abs(h)*min(factor, 0.7)
            if self.h < 1e-9:
                raise RuntimeError(f'step size vanished at t = {self.t}')

    def crossing(self, g, a, b, va, vb):
        """the zero of g(t, y) between the fractions a and b of the last step, where it is va and vb: its fraction, by the
        Illinois rule on real steps"""
        h, side, c = self.t - self.t_old, 0, b
        for _ in range(60):
            c = (a*vb - b*va)/(vb - va)
            if not a < c < b:
                break
            vc = g(self.t_old + c*h, self.attempt(c*h, self.t_old, self.y_old)[0])
            if abs(vc) < 1e-15:
                break
            if va*vc < 0:
                b, vb, va, side = c, vc, va/2 if side < 0 else va, -1
            else:
                a, va, vb, side = c, vc, vb/2 if side > 0 else vb, 1
        return c

    def cut(self):
        """takes the last step back to the first corner that it passed, and changes over to the formula behind it"""
        h, first, at = self.t - self.t_old, None, 1.0
        for corner in self.corners:
            v = corner.distance(self.t, self.y)
            if v != 0 and (v > 0) != corner.held:
                c = self.crossing(corner.distance, 0.0, 1.0, corner.distance(self.t_old, self.y_old), v)
                first, at = (corner, c) if c <= at else (first, at)
        if first:
            self.t, self.y = self.t_old + at*h, self.attempt(at*h, self.t_old, self.y_old)[0]
            first.held = not first.held

    def to(self, t):
        for corner in self.corners:
            corner.held = corner.above(corner.place(self.y))
        while self.t != t:
            self.step(t)
            self.cut()
        for corner in self.corners:
            corner.held = None
        return self.y


class System:
    def __init__(self, factors, M, V=None, S=None, b=None, s=None, F=None):
        self.factors = factors
        self.n = sum(3 if f == 'SO3' else 1 for f in factors)
        self.M, self.F = M, F
        self.V = V or (lambda q, t: 0*t)
        self.S = S or (lambda q, t: np.zeros((0, self.n)))
        self.b = b or (lambda q, t: np.zeros(self.n))
        self.s = s or (lambda q, t: np.zeros(len(self.S(q, t))))
        self.places, i = [], 0
        for f in factors:
            self.places.append(slice(i, i + 3) if f == 'SO3' else i)
            i += 3 if f == 'SO3' else 1

    def moved(self, q, eta, h):
        """the point reached from q with velocity eta after the (complex) time h, to first order"""
        return [Q @ (np.eye(3) + h*hat(eta[p])) if f == 'SO3' else Q + h*eta[p]
                for f, p, Q in zip(self.factors, self.places, q)]

    def rate(self, fun, q, t, eta, dt):
        return np.imag(np.asarray(fun(self.moved(q, eta, 1j*STEP), t + 1j*STEP*dt)))/STEP

    def momentum(self, q, xi, t):
        return self.M(q, t) @ xi + self.b(q, t)

    def lagrangian(self, q, xi, t):
        return 0.5*xi @ self.M(q, t) @ xi + self.b(q, t) @ xi - self.V(q, t)

    def energy(self, q, xi, t=0.0):
        return 0.5*xi @ self.M(q, t) @ xi + self.V(q, t)

    def solve(self, q, xi, t=0.0):
        """accelerations and multipliers from [M -S^T; S 0](xidot, lambda) = (force terms, -kappa)"""
        p = self.momentum(q, xi, t)
        top = -self.rate(lambda z, u: self.momentum(z, xi, u), q, t, xi, 1)
        for f, at in zip(self.factors, self.places):
            if f == 'SO3':
                top[at] += np.cross(p[at], xi[at])
        top += [self.rate(lambda z, u: self.lagrangian(z, xi, u), q, t, e, 0) for e in np.eye(self.n)]
        if self.F is not None:
            top += self.F(q, xi, t)
        kappa = self.rate(lambda z, u: self.S(z, u) @ xi + self.s(z, u), q, t, xi, 1)
        M, S = np.real(self.M(q, t)), np.real(self.S(q, t))
        k = len(S)
        z = np.linalg.solve(np.block([[M, -S.T], [S, np.zeros((k, k))]]), np.concatenate([top, -kappa]))
        return z[:self.n], z[self.n:]

    def power(self, q, xi, t=0.0):
        """the two sides of dE/dt = -l_t + F.xi - s.lambda"""
        a, lam = self.solve(q, xi, t)
        moved = self.rate(lambda z, u: self.energy(z, xi, u), q, t, xi, 1) + xi @ self.M(q, t) @ a
        told = -self.rate(lambda z, u: self.lagrangian(z, xi, u), q, t, 0*xi, 1) - np.real(self.s(q, t)) @ lam
        return moved, told + (0 if self.F is None else self.F(q, xi, t) @ xi)

    def pack(self, q, xi):
        return np.concatenate([np.ravel(Q) for Q in q] + [xi])

    def unpack(self, y):
        q, i = [], 0
        for f in self.factors:
            q.append(y[i:i + 9].reshape(3, 3) if f == 'SO3' else y[i])
            i += 9 if f == 'SO3' else 1
        return q, y[i:]

    def flow(self, t, y):
        q, xi = self.unpack(y)
        qdot = [Q @ hat(xi[p]) if f == 'SO3' else xi[p] for f, p, Q in zip(self.factors, self.places, q)]
        return self.pack(qdot, self.solve(q, xi, t)[0])

    def run(self, q, xi, t1, t0=0.0, **kw):
        return self.unpack(Motion(self.flow, t0, self.pack(q, xi), **kw).to(t1))


if __name__ == '__main__':
    # A free rigid body keeps its spatial angular momentum; a blade turned at a given rate obeys the energy balance; a
    # point that is pulled to x = 0 by a force of constant size (1/2 from the right, 2 from the left) returns after
    # 2*sqrt(2/(1/2)) + 2*sqrt(2/(1/2))/4 = 5 when it starts at rest at x = 1.
    body = System(['SO3'], lambda q, t: np.diag([1.0, 2, 3]))
    q, xi = body.run([np.eye(3)], np.array([0.3, 1.0, 0.2]), 20.0)
    drift = np.abs(q[0] @ np.diag([1, 2, 3]) @ xi - [0.3, 2, 0.6]).max()
    w = 1.1
    blade = System(['R', 'R'], lambda q, t: np.diag([1.0, 3.0]),
                   S=lambda q, t: np.array([[-np.sin(w*t), np.cos(w*t)]]), s=lambda q, t: np.array([0.2*np.cos(t)]))
    c, s = np.cos(0.77), np.sin(0.77)
    xi = 1.3*np.array([c, s]) + 0.2*np.cos(0.7)*np.array([s, -c])
    balance = abs(np.subtract(*blade.power([0.0, 0.0], xi, 0.7)))
    right = Corner(lambda x: x, lambda y: y[0])
    pulled = Motion(lambda t, y: np.array([y[1], -0.5 if right.above(y[0]) else 2.0]), 0.0, [1.0, 0.0], corners=(right,))
    back = np.abs(pulled.to(5.0) - [1, 0]).max()
    print(f'momentum drift {drift:.1e}, energy balance {balance:.1e}, corners {back:.1e}')
    raise SystemExit(int(drift > 1e-11 or balance > 1e-13 or back > 1e-13))
