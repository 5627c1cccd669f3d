#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Noise fields against a second opinion (docs/theory/6-noise.md) that shares no formula of derivatives and no completion
with the program: mass matrix, constraints and amplitudes are written by hand, derivatives are complex steps, a
transport is completed by a linear solve. Needs numpy.

    noise_test.py build/tests/noise_test"""
import json
import subprocess
import sys
import tempfile
import numpy as np

STEP = 1e-40


def hat(w):
    z = 0*w[0]
    return np.array([[z, -w[2], w[1]], [w[2], z, -w[0]], [-w[1], w[0], z]])


def rotation(w, x, y, z):
    v = hat(np.array([x, y, z]))
    return np.eye(3) + 2*w*v + 2*v @ v


class System:
    """q: a list of numbers ('R') and 3x3 matrices ('SO3'); M, b, S, s are functions of (q, t)."""

    def __init__(self, factors, M, S, b=None, s=None):
        self.slots, at = [], 0
        for f in factors:
            self.slots.append((f, slice(at, at + (3 if f == 'SO3' else 1))))
            at = self.slots[-1][1].stop
        self.n, self.M, self.S = at, M, S
        self.b = b or (lambda q, t: np.zeros(at))
        self.s = s or (lambda q, t: np.zeros(len(S(q, t))))

    def along(self, f, q, eta):
        moved = [x @ (np.eye(3) + 1j*STEP*hat(eta[sl])) if k == 'SO3' else x + 1j*STEP*eta[sl][0]
                 for x, (k, sl) in zip(q, self.slots)]
        return np.imag(np.asarray(f(moved)))/STEP

    def gradient(self, f, q):
        return np.array([self.along(f, q, e) for e in np.eye(self.n)])

    def complete(self, q, t, given):
        """S sigma = 0 with the given components; those that nothing determines are 0 (shortest solution)"""
        S, free = np.asarray(self.S(q, t)), [j for j in range(self.n) if j not in given]
        sigma = np.zeros(self.n, complex)
        for j, v in given.items():
            sigma[j] = v
        A, b = S[:, free], -S @ sigma
        sigma[free] = A.T @ np.linalg.solve(A @ A.T, b)  # no conjugate: the imaginary part is a derivative
        return sigma

    def field(self, q, t, xi, sigma=None, held=None, gamma=None, force=None):
        """sigma(q), held(q): sigma with a frozen amplitude; gamma(q); force: a vector. Returns sigma and dxi."""
        p = self.M(q, t) @ xi + self.b(q, t)
        sg = np.real(sigma(q)) if sigma else np.zeros(self.n)
        top = -self.along(lambda z: self.M(z, t) @ xi + self.b(z, t), q, sg)
        if sigma:
            top = top - self.gradient(lambda z: p @ (held or sigma)(z), q)
        if gamma:
            top = top + self.gradient(gamma, q)
        if force is not None:
            top = top + force
        for k, sl in self.slots:
            if k == 'SO3':
                top[sl] += np.cross(p[sl], sg[sl])
        M, S = np.real(self.M(q, t)), np.real(self.S(q, t))
        low = -self.along(lambda z: self.S(z, t) @ xi + self.s(z, t), q, sg)
        K = np.block([[M, -S.T], [S, np.zeros((len(S), len(S)))]])
        return sg, np.linalg.solve(K, np.concatenate([top, low]))[:self.n]


E1, E2, E3 = np.eye(3)


def ball():
    text = """model ball
param l = 0.2
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let s = Gamma + l*e3
lagrangian 1/2*dot(Omega, diag(0.35, 0.45, 0.6)*Omega) + 1/2*dot(x', x') - x[3]
constraint x' = R*cross(Omega, s)
noise A transport Omega = (0.2 + 0.1*t)*Gamma + 0.3*e1
noise B transport Omega = 0.2*Gamma[1]*cross(Gamma, e2) frozen
noise C force Omega = cross(Omega, Gamma), x'[2] = x'[1]
noise C potential 0.3*x[1]*Gamma[2]
noise D transport Omega = 0.1*e2 raw
"""
    def arm(R):
        return R.T @ E3 + 0.2*E3
    M = np.diag([0.35, 0.45, 0.6, 1, 1, 1])
    s = System(['SO3', 'R', 'R', 'R'], lambda q, t: M, lambda q, t: np.hstack([q[0] @ hat(arm(q[0])), np.eye(3)]))

    def completed(q, t, a):
        return s.complete(q, t, {0: a[0], 1: a[1], 2: a[2]})

    def field(name, q, t, xi):
        G = q[0].T @ E3
        if name == 'A':
            return s.field(q, t, xi, lambda z: completed(z, t, (0.2 + 0.1*t)*z[0].T @ E3 + 0.3*E1))
        if name == 'B':
            def amplitude(z):
                return 0.2*(z[0].T @ E3)[0]*hat(z[0].T @ E3) @ E2
            return s.field(q, t, xi, lambda z: completed(z, t, amplitude(z)), lambda z: completed(z, t, amplitude(q)))
        if name == 'C':
            force = np.concatenate([np.cross(xi[:3], G), [0, xi[3], 0]])
            return s.field(q, t, xi, gamma=lambda z: 0.3*z[1]*(z[0].T @ E3)[1], force=force)
        return s.field(q, t, xi, lambda z: np.array([0, 0.1, 0, 0, 0, 0]))
    return text, field


def turntable():
    text = """model turntable
param w = 0.7
config R in SO3 velocity Omega
config x in R^2
let o = R*Omega
lagrangian 0.2*dot(Omega, Omega) + 1/2*dot(x', x') + 0.3*x[1]*x'[2]
constraint x' = [o[2], -o[1]] + w*[-x[2], x[1]]
noise W transport Omega = 0.2*R^T*e1 + 0.3*cos(t)*e3
noise V transport Omega[3] = 0.2*x[1], Omega[1] = 0.1, Omega[2] = x[2]
"""
    s = System(['SO3', 'R', 'R'], lambda q, t: np.diag([0.4, 0.4, 0.4, 1, 1]),
               lambda q, t: np.hstack([np.array([-q[0][1], q[0][0]]), np.eye(2)]),
               b=lambda q, t: np.array([0, 0, 0, 0, 0.3*q[1]]), s=lambda q, t: -0.7*np.array([-q[2], q[1]]))

    def field(name, q, t, xi):
        def amplitude(z):
            return 0.2*z[0].T @ E1 + 0.3*np.cos(t)*E3 if name == 'W' else np.array([0.1, z[2], 0.2*z[1]])
        return s.field(q, t, xi, lambda z: s.complete(z, t, dict(enumerate(amplitude(z)))))
    return text, field


def blade():
    text = """model blade
config x in R, y in R, phi in S1
lagrangian 1/2*(x'^2 + (2 + sin(x))*y'^2 + phi'^2) + 0.3*x*y' - 0.3*y^2
constraint x'*sin(phi) = y'*cos(phi)
noise W transport phi' = 0.4*cos(x)
noise V potential sin(x)*y
noise V force phi' = x'*y'
noise U transport x' = 0.3*cos(phi)*y, y' = 0.3*sin(phi)*y
"""
    s = System(['R']*3, lambda q, t: np.diag([1, 2 + np.sin(q[0]), 1]),
               lambda q, t: np.array([[np.sin(q[2]), -np.cos(q[2]), 0*q[2]]]), b=lambda q, t: np.array([0, 0.3*q[0], 0]))

    def field(name, q, t, xi):
        if name == 'W':
            return s.field(q, t, xi, lambda z: np.array([0, 0, 0.4*np.cos(z[0])]))
        if name == 'V':
            return s.field(q, t, xi, gamma=lambda z: np.sin(z[0])*z[1], force=np.array([0, 0, xi[0]*xi[1]]))
        return s.field(q, t, xi, lambda z: 0.3*z[1]*np.array([np.cos(z[2]), np.sin(z[2]), 0]))
    return text, field


def rubber():
    """An unbalanced ball that does not spin on the plane: velocities by a basis, on rotations."""
    text = """model rubber
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let s = Gamma + 0.2*e3
lagrangian 1/2*dot(Omega, diag(0.35, 0.45, 0.6)*Omega) + 1/2*dot(x', x') - x[3]
constraint x' = R*cross(Omega, s)
constraint dot(Omega, Gamma) = 0
noise A transport Omega = (0.3 + 0.2*t)*Gamma[2]*cross(Gamma, e1)
noise B transport Omega = 0.3*cross(Gamma, e2) frozen
noise C force Omega = 0.3*cross(Omega, e1) + e2, x'[2] = x'[1]
noise C potential 0.3*x[1]*Gamma[2]
"""
    M = np.diag([0.35, 0.45, 0.6, 1, 1, 1])

    def arm(R):
        return R.T @ E3 + 0.2*E3

    def rows(q, t):
        return np.vstack([np.hstack([q[0] @ hat(arm(q[0])), np.eye(3)]), np.concatenate([q[0].T @ E3, np.zeros(3)])])
    s = System(['SO3', 'R', 'R', 'R'], lambda q, t: M, rows)

    def rolled(z, a):
        return np.concatenate([a, z[0] @ hat(a) @ arm(z[0])])

    def field(name, q, t, xi):
        if name == 'A':
            def moved(z):
                G = z[0].T @ E3
                return rolled(z, (0.3 + 0.2*t)*G[1]*hat(G) @ E1)
            return s.field(q, t, xi, moved)
        if name == 'B':
            a = 0.3*hat(q[0].T @ E3) @ E2
            return s.field(q, t, xi, lambda z: rolled(z, 0.3*hat(z[0].T @ E3) @ E2), lambda z: rolled(z, a))
        force = np.concatenate([0.3*np.cross(xi[:3], E1) + E2, [0, xi[3], 0]])
        return s.field(q, t, xi, gamma=lambda z: 0.3*z[1]*(z[0].T @ E3)[1], force=force)
    return text, field


def racer():
    """A roller racer: both rows have coefficients that vanish somewhere."""
    text = """model racer
config x in R, y in R, th in S1, ph in S1
lagrangian 1/2*(x'^2 + y'^2) + 0.15*th'^2 + 0.1*(th' + ph')^2 - 0.3*cos(ph)
constraint x'*sin(th) = y'*cos(th)
constraint x'*sin(th + ph) - y'*cos(th + ph) = (0.3 + 0.5*cos(ph))*th' + 0.3*ph'
noise U transport x' = 0.3*y*cos(th), y' = 0.3*y*sin(th), th' = 0, ph' = y*sin(ph)
noise V potential sin(x)*ph
noise V force ph' = x'*y', x' = cos(t)
"""
    M = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.2], [0, 0, 0.2, 0.2]])

    def rows(q, t):
        a, b = q[2], q[2] + q[3]
        return np.array([[np.sin(a), -np.cos(a), 0*a, 0*a],
                         [np.sin(b), -np.cos(b), -(0.3 + 0.5*np.cos(q[3])), -0.3 + 0*a]])
    s = System(['R']*4, lambda q, t: M, rows)

    def field(name, q, t, xi):
        if name == 'U':
            return s.field(q, t, xi, lambda z: z[1]*np.array([0.3*np.cos(z[2]), 0.3*np.sin(z[2]), 0, np.sin(z[3])]))
        return s.field(q, t, xi, gamma=lambda z: np.sin(z[0])*z[3],
                       force=np.array([np.cos(t), 0, 0, xi[0]*xi[1]]))
    return text, field


def coordinates(text, q):
    return [rotation(*q[:4]), *q[4:]] if 'in SO3' in text else list(q)


def main():
    worst = 0
    for text, field in (ball(), turntable(), blade(), rubber(), racer()):
        with tempfile.NamedTemporaryFile('w', suffix='.nh') as f:
            f.write(text)
            f.flush()
            lines = subprocess.run([sys.argv[1], f.name], capture_output=True, text=True, check=True).stdout.splitlines()
        assert lines
        for line in lines:
            told = json.loads(line)
            q, xi = coordinates(text, told['q']), np.array(told['xi'])
            sigma, dxi = field(told['channel'], q, told['t'], xi)
            size = 1 + np.abs(dxi).max()
            for name, wanted in (('sigma', sigma), ('multipliers', dxi), ('eliminated', dxi)):
                off = np.abs(np.array(told[name]) - wanted).max()/size
                worst = max(worst, off)
                if off > 1e-12:  # rounding times the condition number of the saddle matrix, below 100 here
                    sys.exit(f'{told["channel"]} {name}: off by {off:.2g}\n{text}')
    print(f'largest difference {worst:.2g}')


main()
