#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Processes: `process N drift ...`, `noise W process N = ...`. Models with a process in the mass, the magnetic terms, the
potential, the constraints, the forces and the noise are integrated a second time with equations written here: mass
matrix and constraints by hand, derivatives by complex steps, smooth functions in place of the noise. Paths and ensembles
are compared with closed forms. Needs numpy. The program is the first argument."""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import numpy as np

PROGRAM = os.path.abspath(sys.argv.pop(1))
STEP = 1e-40

# A knife edge whose blade, mass and magnetic term are processes; everything that may depend on one does.
SLEIGH = """model sleigh
param m = 1.3, k = 0.8
config x in R, y in R, phi in S1
process N drift -k*(N - cos(t)) + x'^2/4, L drift N - L
lagrangian m/2*(1 + N^2)*(x'^2 + y'^2) + phi'^2/2 - x^2*(1 + L^2) + L*y'*x
constraint x'*sin(phi + N) = y'*cos(phi + N) + L
force phi' = L*x, x' = -0.1*N*x'
noise W process N = 0.4 + 0.2*L, L = 0.1*x
noise W transport phi' = 0.3*(1 + N)
noise V process L = 0.3*phi'
noise V force phi' = 0.2*N*x'
noise V potential 0.3*x*N
start x = 1, N = 0.3, phi = 0.2, phi' = 0.4
"""
# HP, section 2, with an unsteady centre of mass: the amplitude shares W with the heading (Remark 2.4).
BALL = """model ball
param m = 1, r = 1, l = 0.2, g = 1
config R in SO3 velocity Omega
config x in R^3
process N drift -N, U drift N*Omega[1] - U
let Gamma = R^T*e3
let s = r*Gamma + l*(1 + 0.3*N)*e3
lagrangian 1/2*dot(Omega, diag(0.35, 0.35*(1 + 0.2*U), 0.4)*Omega) + m/2*dot(x', x') - m*g*x[3] + 0.1*U*Omega[2]
constraint x' = R*cross(Omega, s) + 0.2*N*e1
noise W transport Omega = 0.2*(1 + N)*e3 frozen
noise W process N = 0.3 + 0.1*U
noise V process U = 0.2*N + 0.1*Omega[2]
noise V force Omega = 0.1*N*Omega
start R = rotation(e2, -0.3), Omega = [0.3, 0.1, 1.0], N = 0.1, U = -0.2
"""
# Closed forms on every path: w = W, n = exp(W/2), h = N W for the heading on the same W, p = W^2/2.
FORMS = """model forms
config h in R, x in R
process w, n, p
lagrangian 1/2*(h'^2 + x'^2)
noise W process w = 1, n = n/2, p = w
noise W transport h' = w raw
start n = 1
"""
# Ornstein-Uhlenbeck, and a particle pushed by it: linear, so that mean and covariance follow from a matrix exponential.
COLOURED = """model coloured
param k = 2, s = 0.7, c = 0.5, w2 = 1.7
config x in R
process N drift -k*N
lagrangian 1/2*x'^2 - w2/2*x^2
force x' = N - c*x'
noise W process N = s
observable n = N, n2 = N^2, a = x, a2 = x^2, v = x', an = x*N
start x = 1, N = 0.3
"""
# Without noise: any method.
CLOCK = """model clock
config x in R, phi in S1
process N drift -N + cos(t)*x', L drift N*L/4
lagrangian 1/2*(1 + N^2)*x'^2 + 1/2*phi'^2 - x^2/2 - L*cos(phi)
event low: N = 0.1 falling
observable both = N + L
start x = 1, phi = 0.5, N = 0.3, L = 1
"""


def hat(w):
    z = 0*w[0]
    return np.array([[z, -w[2], w[1]], [w[2], z, -w[0]], [-w[1], w[0], z]])


class Motion:
    """State: q (numbers and rotations), xi, N. The functions M, b, V, S, s, sigma take (q, t, N); force, drift, noise and
    the force noise take (q, xi, t, N)."""

    def __init__(self, factors, **parts):
        self.slots, at = [], 0
        for f in factors:
            self.slots.append((f, slice(at, at + (3 if f == 'SO3' else 1))))
            at = self.slots[-1][1].stop
        self.n = at
        self.__dict__.update(parts)

    def moved(self, q, eta):
        return [x @ (np.eye(3) + 1j*STEP*hat(eta[sl])) if k == 'SO3' else x + 1j*STEP*eta[sl][0]
                for x, (k, sl) in zip(q, self.slots)]

    def along(self, f, q, t, N, eta, dt, dN):
        return np.imag(np.asarray(f(self.moved(q, eta), t + 1j*STEP*dt, N + 1j*STEP*dN)))/STEP

    def gradient(self, f, q, t, N):
        return np.array([self.along(f, q, t, N, e, 0, 0*N) for e in np.eye(self.n)])

    def turn(self, p, v):
        out = np.zeros(self.n)
        for k, sl in self.slots:
            if k == 'SO3':
                out[sl] = np.cross(p[sl], v[sl])
        return out

    def rate(self, q, xi, N, t, dW):
        """of (q, xi, N) where channel i grows at dW[i]"""
        p = self.M(q, t, N) @ xi + self.b(q, t, N)
        lagrangian = lambda q, t, N: xi @ self.M(q, t, N) @ xi/2 + self.b(q, t, N) @ xi - self.V(q, t, N)
        eta, dN = xi.copy(), self.drift(q, xi, t, N)
        top = self.turn(p, xi) + self.gradient(lagrangian, q, t, N) + self.force(q, xi, t, N)
        for i, w in enumerate(dW):
            sg, pull = np.real(self.sigma(q, t, N)[i]), self.push(q, xi, t, N)[i]
            held = self.frozen(q, t, N) if self.frozen else None
            top = top + w*(self.turn(p, sg) + pull)
            top = top - w*self.gradient(lambda z, t, n: p @ self.sigma(z, t, n, held)[i], q, t, N)
            top = top + w*self.gradient(lambda z, t, n: self.gamma(z, t, n)[i], q, t, N)
            eta, dN = eta + w*sg, dN + w*self.noise(q, xi, t, N)[i]
        top = top - self.along(lambda q, t, N: self.M(q, t, N) @ xi + self.b(q, t, N), q, t, N, eta, 1, dN)
        low = -self.along(lambda q, t, N: self.S(q, t, N) @ xi + self.s(q, t, N), q, t, N, eta, 1, dN)
        M, S = np.real(self.M(q, t, N)), np.real(self.S(q, t, N))
        K = np.block([[M, -S.T], [S, np.zeros((len(S), len(S)))]])
        dxi = np.linalg.solve(K, np.concatenate([top, low]))[:self.n]
        dq = [x @ hat(eta[sl]) if k == 'SO3' else eta[sl][0] for x, (k, sl) in zip(q, self.slots)]
        return dq, dxi, dN

    def run(self, q, xi, N, t1, n, dW):
        """n steps of the classical Runge-Kutta method"""
        h = t1/n

        def step(z, k, c):
            return [a + c*b for a, b in zip(z[0], k[0])], z[1] + c*k[1], z[2] + c*k[2]
        z = (q, xi, N)
        for i in range(n):
            t = i*h
            k1 = self.rate(*z, t, dW(t))
            k2 = self.rate(*step(z, k1, h/2), t + h/2, dW(t + h/2))
            k3 = self.rate(*step(z, k2, h/2), t + h/2, dW(t + h/2))
            k4 = self.rate(*step(z, k3, h), t + h, dW(t + h))
            for k, c in ((k1, h/6), (k2, h/3), (k3, h/3), (k4, h/6)):
                z = step(z, k, c)
        return z


def sleigh():
    m, k = 1.3, 0.8

    def mass(q, t, N):
        a = m*(1 + N[0]**2)
        return np.diag([a, a, 1 + 0*a])
    zero = np.zeros(3)
    return Motion(
        ['R', 'R', 'R'], M=mass,
        b=lambda q, t, N: np.array([0*q[0], N[1]*q[0], 0*q[0]]),
        V=lambda q, t, N: q[0]**2*(1 + N[1]**2),
        S=lambda q, t, N: np.array([[np.sin(q[2] + N[0]), -np.cos(q[2] + N[0]), 0*N[0]*q[2]]]),
        s=lambda q, t, N: np.array([-N[1]]),
        force=lambda q, xi, t, N: np.array([-0.1*N[0]*xi[0], 0, N[1]*q[0]]),
        drift=lambda q, xi, t, N: np.array([-k*(N[0] - math.cos(t)) + xi[0]**2/4, N[0] - N[1]]),
        noise=lambda q, xi, t, N: np.array([[0.4 + 0.2*N[1], 0.1*q[0]], [0, 0.3*xi[2]]]),
        sigma=lambda q, t, N, held=None: np.array([[0*q[0], 0*q[0], 0.3*(1 + N[0]) + 0*q[0]], [0*q[0]]*3]),
        push=lambda q, xi, t, N: [zero, np.array([0, 0, 0.2*N[0]*xi[0]])],
        gamma=lambda q, t, N: np.array([0*q[0], 0.3*q[0]*N[0]]), frozen=None)


def ball():
    e1, e3 = np.eye(3)[0], np.eye(3)[2]

    def lever(q, N):
        return q[0].T @ e3 + 0.2*(1 + 0.3*N[0])*e3

    def mass(q, t, N):
        M = np.eye(6) + 0*q[1]*N[0]
        M[0, 0], M[1, 1], M[2, 2] = 0.35, 0.35*(1 + 0.2*N[1]), 0.4
        return M

    def row(q, t, N):
        """x' - R (Omega x s) = x' + R hat(s) Omega"""
        return np.hstack([q[0] @ hat(lever(q, N)), np.eye(3)])

    def sigma(q, t, N, held=None):
        """frozen: the amplitude does not vary, what follows from it does"""
        c = 0.2*(1 + N[0]) if held is None else held
        w = c*e3
        return [np.concatenate([w + 0*lever(q, N), q[0] @ np.cross(w, lever(q, N))]), 0*np.concatenate([w, w])]
    return Motion(
        ['SO3', 'R', 'R', 'R'], M=mass,
        b=lambda q, t, N: np.array([0, 0.1, 0, 0, 0, 0])*N[1],
        V=lambda q, t, N: q[3],
        S=row, s=lambda q, t, N: -0.2*N[0]*e1,
        force=lambda q, xi, t, N: np.zeros(6),
        drift=lambda q, xi, t, N: np.array([-N[0], N[0]*xi[0] - N[1]]),
        noise=lambda q, xi, t, N: np.array([[0.3 + 0.1*N[1], 0], [0, 0.2*N[0] + 0.1*xi[1]]]),
        sigma=sigma,
        push=lambda q, xi, t, N: [np.zeros(6), np.concatenate([0.1*N[0]*xi[:3], np.zeros(3)])],
        gamma=lambda q, t, N: np.array([0*N[0], 0*N[0]]), frozen=lambda q, t, N: 0.2*(1 + N[0]))


class Process(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for text in (SLEIGH, BALL, FORMS, COLOURED, CLOCK):
            with open(self.path(text.split()[1] + '.nh'), 'w') as f:
                f.write(text)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def call(self, *words, status=0):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout if status == 0 else done.stderr

    def run_model(self, *words):
        return json.loads(self.call('run', *words, '--json'))

    def near(self, a, b, tol):
        self.assertLess(np.max(np.abs(np.asarray(a, float) - np.asarray(b, float))), tol)

    def test_smooth_drivers(self):
        """Both closures. Classical Runge-Kutta steps of 1/128 are good to 2e-9 here, compared with steps of 1/256."""
        dW = lambda t: [3*math.cos(3*t), t - 1]
        start = json.loads(self.call('check', 'sleigh.nh', '--json'))['state']
        xi = np.array([start[v] for v in ("x'", "y'", "phi'")])
        q, xi, N = sleigh().run([1.0, 0.0, 0.2], xi, np.array([0.3, 0.0]), 1, 128, dW)
        start = json.loads(self.call('check', 'ball.nh', '--json'))['state']
        eta = np.array([*start['Omega'], *start["x'"]])
        Q, eta, U = ball().run([np.array(start['R']), 0.0, 0.0, 0.0], eta, np.array([0.1, -0.2]), 1, 128, dW)
        for closure in ('eliminated', 'multipliers'):
            words = ['--t1', 1, '--rtol', 1e-11, '--closure', closure, '--driver', 'W=sin(3*t); V=t^2/2 - t']
            s = self.run_model('sleigh.nh', *words)['state']
            self.near([s[v] for v in ('x', 'y', 'phi', "x'", "y'", "phi'", 'N', 'L')], [*q, *xi, *N], 2e-8)
            s = self.run_model('ball.nh', *words)['state']
            self.near([*np.ravel(s['R']), *s['x'], *s['Omega'], *s["x'"], s['N'], s['U']],
                      [*np.ravel(Q[0]), *Q[1:], *eta, *U], 2e-8)

    def test_paths(self):
        """Frozen increments and rk4: the relative error of a step is (dW/2)^5/120, at most 3e-8 in 256 steps here."""
        for engine in ('interpreted', 'compiled'):
            s = self.run_model('forms.nh', '--seed', 5, '--dt', 1/128, '--t1', 2, '--method', 'rk4', '--engine',
                               engine)['state']
            w = s['w']
            self.assertGreater(abs(w), 0.1)
            self.near([s['n'], s['p'], s['h']], [math.exp(w/2), w*w/2, w*w/2], 2e-6)

    def test_engines_agree(self):
        for name in ('sleigh.nh', 'ball.nh'):
            runs = [self.run_model(name, '--seed', 3, '--dt', 1/64, '--t1', 1, '--engine', e)
                    for e in ('interpreted', 'compiled')]
            self.assertEqual(runs[0]['state'], runs[1]['state'])
            runs = [self.run_model(name, '--seed', 3, '--dt', 1/64, '--t1', 1, '--closure', c, '--method', 'rk4')
                    for c in ('eliminated', 'multipliers')]
            for k, v in runs[0]['state'].items():
                self.near(v, runs[1]['state'][k], 1e-5)  # the same equation over each step, in two sets of variables

    def test_coloured_noise(self):
        k, s, c, w2, t, n = 2, 0.7, 0.5, 1.7, 1.0, 4096
        d = json.loads(self.call('ensemble', 'coloured.nh', '--paths', n, '--dt', 1/64, '--t1', t, '--seed', 7, '--json'))
        A = np.array([[0, 1, 0], [-w2, -c, 1], [0, 0, -k]])
        m, P, h, Q = np.array([1, 0, 0.3]), np.zeros((3, 3)), t/2000, np.diag([0, 0, s*s])
        E = sum(np.linalg.matrix_power(A*h, j)/math.factorial(j) for j in range(8))
        half = sum(np.linalg.matrix_power(A*h/2, j)/math.factorial(j) for j in range(8))
        for _ in range(2000):  # Simpson's rule for the covariance of each piece
            m, P = E @ m, E @ P @ E.T + h/6*(E @ Q @ E.T + 4*half @ Q @ half.T + Q)
        self.near(P[2, 2], s*s/(2*k)*(1 - math.exp(-2*k*t)), 1e-12)
        want = {'n': m[2], 'n2': P[2, 2] + m[2]**2, 'a': m[0], 'a2': P[0, 0] + m[0]**2, 'v': m[1],
                'an': P[0, 2] + m[0]*m[2]}
        for name, value in want.items():
            o = d['observables'][name]
            # the bias of the step, 1e-4, is far below the standard errors, 1e-3 and more
            self.assertLess(abs(o['mean'][-1] - value), 4*o['stderr'][-1] + 1e-4, name)

    def test_without_noise(self):
        exact = self.run_model('clock.nh', '--t1', 2, '--rtol', 1e-12)
        methods = json.loads(self.call('list', 'methods', '--json'))['methods']
        refused = 0
        for m in methods:
            words = ['run', 'clock.nh', '--t1', 2, '--dt', 1/128, '--method', m['name'], '--json']
            done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=self.folder.name)
            if done.returncode == 2:
                refused += 1
                noisy = m['family'] in ['log-ODE', 'Langevin', 'Ito', 'splitting']
                why = 'a path with noise|a state without processes' if noisy else 'a state without processes'
                if m['name'] == 'nystrom8':  # processes are no rates of positions
                    why = 'needs accelerations that depend on positions and time alone'
                self.assertRegex(done.stderr + done.stdout, why, m['name'])
                continue
            self.assertEqual(done.returncode, 0, (m['name'], done.stderr))
            got = json.loads(done.stdout)['state']
            for k, v in exact['state'].items():
                self.near(v, got[k], 2e-2 if m['order'] == 1 else 1e-3)
        self.assertGreater(len(methods) - refused, 25)
        self.assertEqual(len(exact['events']['low']), 1)
        self.assertLess(abs(exact['energy_balance']), 1e-9)

    def test_files_and_starts(self):
        whole = self.run_model('clock.nh', '--t1', 2, '--set', 'N=0.7')
        self.call('run', 'clock.nh', '--t1', 1, '--every', 0.25, '--set', 'N=0.7', '-o', 'a.h5', '--quiet')
        self.assertEqual(self.run_model('--from', 'a.h5', '--t1', 2)['state'], whole['state'])
        self.assertIn('/process/N', self.call('info', 'a.h5'))
        self.call('run', 'clock.nh', '--t1', 2, '--sweep', 'N=0.3:0.7:2', '--columns', 'N,L,both', '-o', 'b.csv', '--quiet')
        with open(self.path('b.csv')) as f:
            rows = [line.strip().split(',') for line in f]
        last = dict(zip(rows[0], rows[-1]))
        for name in ('N', 'L'):
            self.near(last[name], whole['state'][name], 1e-8)
        text = self.call('show', 'clock.nh')
        with open(self.path('again.nh'), 'w') as f:
            f.write(text)
        self.assertEqual(self.call('show', 'again.nh'), text)
        self.call('plot', 'a.h5', '--y', 'N', '-o', 'a.svg')

    def test_emitted(self):
        with open(self.path('e.c'), 'w') as f:
            f.write(self.call('emit', 'clock.nh', '--main'))
        subprocess.run(['cc', '-O1', 'e.c', '-o', 'e', '-lm'], cwd=self.folder.name, check=True)
        out = subprocess.run(['./e'], cwd=self.folder.name, capture_output=True, text=True, check=True).stdout
        values = dict(line.split(' = ') for line in out.splitlines() if ' = ' in line)
        exact = self.run_model('clock.nh', '--t1', values['t'], '--rtol', 1e-12)['state']
        for name in ('x', 'N', 'L'):
            self.near(values[name], exact[name], 1e-6)

    def test_large(self):
        """The sparse form agrees with the eliminated one: 33 equal particles beside 3 of the same."""
        text = """model chain
param n = {n} integer
config x in R^2 [n]
process N drift -N + x[1]'[1], M
lagrangian sum(i in 1..n, (1 + 0.1*N^2)/2*dot(x[i]', x[i]') - 3*(1 + M^2)*x[i][1]^2/2)
constraint x[i]'[2] = x[i]'[1]*(1 + 0.3*sin(N)*cos(x[i][1])) + 0.1*N for i in 1..n
noise W process N = 0.3, M = x[2][1]
noise W transport x[1]'[1] = 0.2
start x[1][1] = 1, x[2][1] = 0.5, x[1]'[1] = 0.3, x[i]'[1] = 0 for i in 2..n
start N = 0.2
"""
        states = []
        for n in (3, 33):
            with open(self.path('chain.nh'), 'w') as f:
                f.write(text.replace('{n}', str(n)))
            states.append(self.run_model('chain.nh', '--t1', 1, '--rtol', 1e-11, '--driver', 'W=sin(2*t)')['state'])
        for name in ('N', 'M', 'x[1]', 'x[2]', "x[3]'"):
            self.near(states[0][name], states[1][name], 1e-8)
        words = ['chain.nh', '--t1', 1, '--driver', 'W=sin(2*t)', '--closure', 'multipliers']
        self.assertIn('large systems', self.call('run', *words, status=2))

    def test_conserve(self):
        d = json.loads(self.call('conserve', 'forms.nh', '--json'))
        verdict = {q['name']: q for q in d['quantities']}
        self.assertEqual(verdict['energy']['conserved'], 'yes')
        self.assertEqual(d['measure']['exists'], 'undecided')
        d = json.loads(self.call('conserve', 'clock.nh', '--json'))
        self.assertEqual({q['name']: q['conserved'] for q in d['quantities']}['energy'], 'no')


if __name__ == '__main__':
    unittest.main()
