#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Independent checks of the shipped models. Needs numpy only.

For every model the equations of motion are written here once more, by hand: Newton-Euler, reduced equations of the
literature, closed forms. None of this uses the Lagrangian or the constraints of the model file. Two comparisons:

  file     the accelerations by hand against those that reader.py derives from the model file, at random states
  program  the end of a motion by hand against `anagyre run MODEL --json` (skipped without --program)

    check_models.py [--program build/anagyre] [NAME]..."""
import json
import os
import subprocess
import sys
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean
from oracle import Motion, hat, cross, STEP
from reader import Model

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
e1, e2, e3 = np.eye(3)
sin, cos, sqrt = np.sin, np.cos, np.sqrt
CHECKS = {}


class Hand:
    """Equations by hand: rhs(t, y), a start y0, and report(t, y) -> coordinates and velocities under their names.
    rotations: places in y of rotation matrices (9 numbers by rows), which random states must keep orthogonal.
    forces(t, y, rates) -> observables of the model file that show reactions and drives."""

    def __init__(self, rhs, y0, report, sets=None, t1=2.0, rotations=(), spread=0.4, forces=None):
        self.rhs, self.y0, self.report = rhs, np.array(y0, float), report
        self.sets, self.t1, self.rotations, self.spread, self.forces = sets or {}, t1, rotations, spread, forces

    def random(self, rng):
        y = self.y0 + self.spread*rng.normal(size=len(self.y0))
        for i in self.rotations:
            u, _, v = np.linalg.svd(rng.normal(size=(3, 3)))
            R = u @ v
            y[i:i + 9] = (R*np.sign(np.linalg.det(R))).ravel()
        return y

    def rates(self, t, y):
        """time derivatives of what report() gives, by a complex step along the motion"""
        ydot = self.rhs(t, y)
        moved = self.report(t + 1j*STEP, y + 1j*STEP*ydot)
        return {k: np.imag(np.asarray(v))/STEP for k, v in moved.items()}


def check(name):
    def keep(f):
        CHECKS[name] = f
        return f
    return keep


def mat(y, i):
    return y[i:i + 9].reshape(3, 3)


def blade(angle):
    """y = (x, y, angle, u, omega): a blade that runs along itself at the speed u"""
    return lambda t, y: {'x': y[0], 'y': y[1], angle: y[2], "x'": y[3]*cos(y[2]), "y'": y[3]*sin(y[2]), angle + "'": y[4]}


def particle(t, y):
    """y = (x, y, z, x', y') with z' = y x'"""
    return {'x': y[0], 'y': y[1], 'z': y[2], "x'": y[3], "y'": y[4], "z'": y[1]*y[3]}


def turning_body(t, y):
    return {'Omega': y[:3], 'R': mat(y, 3)}


def body_on_plane(I, m, g, arm, arm_rate, R0, Om0, x0, **kw):
    """Newton-Euler for a rigid body that rolls: arm(Gamma) from the contact to the centre of mass, body frame.
    m d/dt(R(Omega x s)) = force - m g e3 at the contact; I Omega' + Omega x I Omega = -s x force."""
    def rhs(t, y):
        Om, R = y[:3], mat(y, 3)
        Ga = R.T @ e3
        s, sd = arm(Ga), arm_rate(Ga, np.cross(Ga, Om))
        rest = np.cross(Om, sd) + np.cross(Om, np.cross(Om, s)) + g*Ga  # acceleration without the Omega' term, + g
        A = I - m*hat(s) @ hat(s)
        Omd = np.linalg.solve(A, -np.cross(Om, I @ Om) - m*np.cross(s, rest))
        return np.concatenate([Omd, (R @ hat(Om)).ravel(), R @ np.cross(Om, s)])

    def report(t, y):
        R = mat(y, 3)
        return {'Omega': y[:3], 'R': R, 'x': y[12:], "x'": R @ cross(y[:3], arm(R.T @ e3))}
    return Hand(rhs, np.concatenate([Om0, np.ravel(R0), x0]), report, rotations=(3,), **kw)


def ball_on_surface(m, a, kappa, g, normal, x0, w0, ground=lambda x: 0*x, names=('x', 'B', 'W'), **kw):
    """Newton-Euler for a homogeneous ball with the centre x that rolls on a surface: normal(x) from the surface into the
    ball, ground(p) velocity of the surface at its point p. x' = w x a n + ground, m x'' = F - m g e3, I w' = -a n x F;
    hence (1 + kappa) a w' = -n x c, c = w x a n' + ground' + g e3."""
    velocity = lambda x, w: cross(w, a*normal(x)) + ground(x - a*normal(x))

    def rhs(t, y):
        x, w = y[:3], y[3:6]
        v = velocity(x, w)
        moved = x + 1j*STEP*v
        n, nd = normal(x), normal(moved).imag/STEP
        c = np.cross(w, a*nd) + np.imag(ground(moved - a*normal(moved)))/STEP + g*e3
        return np.concatenate([v, -np.cross(n, c)/(a*(1 + kappa)), (hat(w) @ mat(y, 6)).ravel()])

    def report(t, y):
        return {names[0]: y[:3], names[0] + "'": velocity(y[:3], y[3:6]), names[1]: mat(y, 6),
                names[2]: mat(y, 6).T @ y[3:6]}
    return Hand(rhs, np.concatenate([x0, w0, np.eye(3).ravel()]), report, rotations=(6,), **kw)


R_TILTED = np.array([[0.8, 0, -0.6], [0, 1, 0], [0.6, 0, 0.8]])


@check('chaplygin_sleigh')
def _():
    m, J, a = 1, 0.25, 0.5
    return Hand(lambda t, y: np.array([y[3]*cos(y[2]), y[3]*sin(y[2]), y[4], a*y[4]**2, -m*a*y[3]*y[4]/(J + m*a*a)]),
                [0, 0, 0, 0, 1], blade('th'), t1=6.0)


@check('knife_edge')
def _():
    g, al = 9.81, 0.2                                                            # Newton along the blade
    return Hand(lambda t, y: np.array([y[3]*cos(y[2]), y[3]*sin(y[2]), y[4], g*sin(al)*cos(y[2]), 0]), [0, 0, 0, 0, 1],
                blade('phi'), t1=6.0)


@check('vertical_disk')
def _():
    return Hand(lambda t, y: np.array([y[4], y[5], y[4]*cos(y[1]), y[4]*sin(y[1]), 0, 0]), [0, 0, 0, 0, 1, 1],
                lambda t, y: {'theta': y[0], 'phi': y[1], 'x': y[2], 'y': y[3], "theta'": y[4], "phi'": y[5],
                              "x'": y[4]*cos(y[1]), "y'": y[4]*sin(y[1])}, t1=6.0,
                forces=lambda t, y, d: {'side_force': -d["x'"]*sin(y[1]) + d["y'"]*cos(y[1])})


@check('routh_sphere')
def _():
    r, l = 1.0, 0.2
    return body_on_plane(np.diag([0.35, 0.35, 0.4]), 1.0, 1.0, lambda G: r*G + l*e3, lambda G, Gd: r*Gd, R_TILTED,
                         [0.5, -0.4, 1.2], [0, 0, r] + l*R_TILTED @ e3, t1=10.0)


@check('chaplygin_ball')
def _():
    return body_on_plane(np.diag([0.35, 0.45, 0.6]), 1.0, 9.81, lambda G: G, lambda G, Gd: Gd, R_TILTED,
                         [0.5, -0.4, 1.2], [0, 0, 1.0], t1=10.0)


@check('rattleback')
def _():
    c, s = cos(0.35), sin(0.35)
    Q = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    D = Q @ np.diag([4, 1.5625, 1]) @ Q.T
    n = lambda G: sqrt(G @ D @ G)
    return body_on_plane(np.diag([0.55, 1.05, 1.15]), 1.0, 1.0, lambda G: D @ G/n(G),
                         lambda G, Gd: D @ Gd/n(G) - D @ G*(G @ D @ Gd)/n(G)**3, np.eye(3), [0.2, 0, 0.5], [0, 0, 1.0],
                         t1=10.0)


@check('falling_disk')
def _():
    m, R, g, A, B = 1, 1, 9.8, 0.25, 0.5                                         # ZBM (3.5)-(3.7) with the errata

    def turning(y):
        Q = y[6] - y[7]*sin(y[0])
        phi = Q/(A*cos(y[0])**2)
        return Q, phi, y[7]/(m*R*R + B) - phi*sin(y[0])

    def rhs(t, y):
        th, p2 = y[0], y[7]
        Q, ph, ps = turning(y)
        slope = Q*Q*sin(th)/(A*cos(th)**3) - Q*p2/(A*cos(th)) - m*g*R*sin(th)
        c = m*R*R*cos(th)*y[5]
        return np.array([y[5], ph, ps, -R*ps*cos(y[1]), -R*ps*sin(y[1]), -slope/(A + m*R*R), c*ps, -c*ph])

    def report(t, y):
        _, ph, ps = turning(y)
        return {'theta': y[0], 'phi': y[1], 'psi': y[2], 'x': y[3], 'y': y[4], "theta'": y[5], "phi'": ph, "psi'": ps,
                "x'": -R*ps*cos(y[1]), "y'": -R*ps*sin(y[1])}
    p2 = 1.5*(0.5*sin(0.3) + 3)
    return Hand(rhs, [0.3, 0, 0, 0, 0, 0.2, A*0.5*cos(0.3)**2 + p2*sin(0.3), p2], report, t1=10.0, spread=0.2)


@check('mathematical_example')
def _():
    a, b, bp = 0.5, lambda r: 0.5*sin(r) + 0.3, lambda r: 0.5*cos(r)             # ZBM (1.6), (1.7)

    def rhs(t, y):
        r, p, rd = y[0], y[3], y[4]
        c = bp(r)*(a*rd + b(r)*p)
        return np.array([rd, p, a*rd + b(r)*p, c*rd, -0.4*r - c*p])
    return Hand(rhs, [-0.4, 0, 0, 1.8165004992163767, 0.1],
                lambda t, y: {'r1': y[0], 'r2': y[1], 's': y[2], "r2'": y[3], "r1'": y[4],
                              "s'": a*y[4] + b(y[0])*y[3]}, t1=10.0)


@check('roller_racer')
def _():
    m, I1, I2, d1, d2 = 1, 0.3, 0.05, 0.4, 0.25                                  # ZBM section 4.4
    D = lambda f: d1*cos(f) + d2
    inv = lambda f: m*D(f)**2 + (I1 + I2)*sin(f)**2
    g = lambda f: I2 + m*d2**2/sin(f)**2 - (m*D(f)*d2 + I2*sin(f)**2)**2/(sin(f)**2*inv(f))

    def speeds(y):
        f, fd, p = y[3:6]
        thd = (p*sin(f) - (m*D(f)*d2 + I2*sin(f)**2)*fd)/inv(f)
        return (D(f)*thd + d2*fd)/sin(f), thd

    def rhs(t, y):
        f, fd, p = y[3:6]
        u, thd = speeds(y)
        N = m*(d1 + d2*cos(f))*(I2*d1*cos(f) - I1*d2)/inv(f)
        gp = np.imag(g(f + 1j*STEP))/STEP
        pd = ((I1 + I2)*cos(f) - m*d1*D(f))*sin(f)/inv(f)*p*fd + N*fd**2
        return np.array([u*cos(y[2]), u*sin(y[2]), thd, fd, (-N/inv(f)*p*fd - gp*fd**2/2)/g(f), pd])

    def report(t, y):
        u, thd = speeds(y)
        return {'x': y[0], 'y': y[1], 'theta': y[2], 'phi': y[3], "phi'": y[4], "theta'": thd, "x'": u*cos(y[2]),
                "y'": u*sin(y[2])}
    return Hand(rhs, [0, 0, 0, 1.5, 0.8, -0.5], report, t1=5.0)


@check('affine_particle')
def _():
    def rhs(t, y):  # Newton with the reaction of FS (9), corrected
        x, v, z = y[0], y[1], y[2]
        S = np.array([-v, x, 1])
        grad = np.array([0, 0, 1.0])
        return np.concatenate([velocity(y), (-grad + S*(S @ grad)/(S @ S))[:2]])

    def velocity(y):
        return np.array([y[3], y[4], 0.7 - y[0]*y[4] + y[1]*y[3]])

    def report(t, y):
        v = velocity(y)
        return {'x': y[0], 'y': y[1], 'z': y[2], "x'": v[0], "y'": v[1], "z'": v[2]}
    return Hand(rhs, [0.3, -0.5, 0.2, 0.4, 0.9], report, t1=10.0,
                forces=lambda t, y, d: {'R': np.array([d["x'"], d["y'"], d["z'"] + 1])})


@check('cylinder_ball')
def _():
    a, r, I, W, g, k = 0.5, 1.2, 0.1, 0.8, 1.3, 0.25                             # reduced equations in space (errata C)

    def fast(y):
        s, c = sin(y[1]), cos(y[1])
        return s, c, ((r + a)*W - a*y[4])/r, -a*(y[2]*s - y[3]*c)

    def rhs(t, y):
        s, c, gd, zd = fast(y)
        l1 = -k*s/r*I/(I + a*a)
        l2 = (g - a*gd*(y[2]*c + y[3]*s))*I/(I + a*a)
        return np.concatenate([[zd, gd, a*l2*s/I, -a*l2*c/I, a*l1/I], (hat(y[2:5]) @ mat(y, 5)).ravel()])

    def report(t, y):
        s, c, gd, zd = fast(y)
        return {'z': y[0], 'gamma': y[1], "z'": zd, "gamma'": gd, 'B': mat(y, 5), 'W': mat(y, 5).T @ y[2:5]}
    return Hand(rhs, np.concatenate([[0.1, 0.2, 0.5, -0.3, 1.1], np.eye(3).ravel()]), report, t1=10.0, rotations=(5,))


@check('turntable_ball')
def _():
    a, k, W = 0.3, 0.4, 1.5  # v' = kappa/(1 + kappa) Omega e3 x v, spin constant
    nu = k/(1 + k)*W

    def angular(y):
        return np.array([(W*y[0] - y[3])/a, (y[2] + W*y[1])/a, y[4]])

    def rhs(t, y):
        return np.concatenate([y[2:4], [-nu*y[3], nu*y[2], 0], (hat(angular(y)) @ mat(y, 5)).ravel()])
    return Hand(rhs, np.concatenate([[1, 0, -0.3, 1.38, 0.6], np.eye(3).ravel()]),
                lambda t, y: {'x': y[:2], "x'": y[2:4], 'B': mat(y, 5), 'W': mat(y, 5).T @ angular(y)}, t1=10.0,
                rotations=(5,))


@check('pendulum')
def _():
    return Hand(lambda t, y: np.array([y[1], -sin(y[0])]), [2, 0], lambda t, y: {'theta': y[0], "theta'": y[1]},
                t1=10.0)


@check('lattice')
def _():
    K, k, beta = 6, 1.0, 0.5                                                     # Newton, spring by spring

    def rhs(t, y):
        d = np.diff(y[:K])
        f = k*d + beta*d**3
        return np.concatenate([y[K:], np.append(f, 0) - np.append(0, f)])
    start = cos(np.pi*3*(np.arange(1, K + 1) - 0.5)/K)
    return Hand(rhs, np.concatenate([start, 0.1*np.ones(K)]), lambda t, y: {'q': y[:K], "q'": y[K:]}, sets={'K': '6'},
                t1=10.0)


@check('rigid_body')
def _():
    I = np.array([1.0, 2, 3])                                                    # Euler
    return Hand(lambda t, y: np.concatenate([np.cross(I*y[:3], y[:3])/I, (mat(y, 3) @ hat(y[:3])).ravel()]),
                np.concatenate([[0.3, 0, 1], np.eye(3).ravel()]), turning_body, t1=10.0, rotations=(3,))


@check('heavy_top')
def _():
    I, mgl = np.array([0.8, 0.8, 0.5]), 0.5                                      # Euler-Poisson

    def rhs(t, y):
        Ga = mat(y, 3).T @ e3
        return np.concatenate([(np.cross(I*y[:3], y[:3]) + mgl*np.cross(Ga, e3))/I, (mat(y, 3) @ hat(y[:3])).ravel()])
    c, s = cos(0.6), sin(0.6)
    return Hand(rhs, np.concatenate([[0, 0, 3.5], [1, 0, 0, 0, c, -s, 0, s, c]]), turning_body, t1=10.0, rotations=(3,))


@check('suslov')
def _():
    I11, I22, I13 = 1.2, 2.0, 0.4
    chi = np.array([0.5, 0.8, 0.6])

    def rhs(t, y):  # M' = M x Omega + Gamma x chi, first two rows
        Ga = mat(y, 2).T @ e3
        T = np.cross(Ga, chi)
        M3 = I13*y[0]
        turn = mat(y, 2) @ hat(np.append(y[:2], 0))
        return np.concatenate([[(-M3*y[1] + T[0])/I11, (M3*y[0] + T[1])/I22], turn.ravel()])
    c, s = cos(0.4), sin(0.4)
    return Hand(rhs, np.concatenate([[sqrt(2/1.2), 0], [1, 0, 0, 0, c, -s, 0, s, c]]),
                lambda t, y: {'Omega': np.append(y[:2], 0), 'R': mat(y, 2)}, t1=6.0, rotations=(2,),
                sets={'chi': '[0.5, 0.8, 0.6]'})


@check('nonholonomic_particle')
def _():
    return Hand(lambda t, y: np.array([y[3], y[4], y[1]*y[3], -y[1]*y[3]*y[4]/(1 + y[1]**2), 0]), [0, -1, 0, 1, 0.5],
                particle, t1=10.0)


@check('snakeboard')
def _():
    m, l, J, Jr, Jw, a, b = 4, 0.2, 0.02, 0.06, 0.007, 0.7, 0.3                  # momentum along (l cos phi, sin phi)
    Jt = J + Jr + 2*Jw

    def parts(t, y):
        phi, psd = b*sin(t), a*cos(t)
        s = (y[3] - Jr*psd*sin(phi))/(m*l*l*cos(phi)**2 + Jt*sin(phi)**2)
        return phi, b*cos(t), psd, s, l*cos(phi)*s, sin(phi)*s

    def rhs(t, y):
        phi, phd, psd, s, u, om = parts(t, y)
        pd = ((Jt - m*l*l)*sin(phi)*cos(phi)*s + Jr*psd*cos(phi))*phd
        return np.array([u*cos(y[2]), u*sin(y[2]), om, pd])

    def report(t, y):
        phi, phd, psd, s, u, om = parts(t, y)
        return {'x': y[0], 'y': y[1], 'th': y[2], 'psi': a*sin(t), 'phi': phi, "x'": u*cos(y[2]), "y'": u*sin(y[2]),
                "th'": om, "psi'": psd, "phi'": phd}

    def forces(t, y, d):
        return {'torque': Jr*(d["th'"] + d["psi'"]), 'steering': 2*Jw*d["phi'"]}
    return Hand(rhs, np.zeros(4), report, sets={'J': '0.02'}, t1=10.0, forces=forces)


@check('sleigh_moving_mass')
def _():
    M, J, mu, c, d, A, w = 1, 1, 1, 0.5, -0.5, 1, 1                              # momenta in the frame of the blade

    def rhs(t, y):
        u, om = y[3:]
        Y, Yd = A*sin(w*t), A*w*cos(w*t)
        across = M*c*om + mu*(Yd + d*om)
        mass = np.array([[M + mu, -mu*Y], [-mu*Y, M*c*c + J + mu*(Y*Y + d*d)]])
        force = [om*across + mu*Yd*om, -u*across + mu*Yd*u - 2*mu*Y*Yd*om + mu*d*w*w*Y]
        return np.concatenate([[u*cos(y[2]), u*sin(y[2]), om], np.linalg.solve(mass, force)])
    return Hand(rhs, [0, 0, 0, 0.1, 0.2], blade('th'), t1=10.0)


@check('driven_blade')
def _():
    m1, m2, w, e = 1, 3, 1.1, 0.2                                                # f.M v' = 0 with v = u f - s n

    def rhs(t, y):
        c, s = cos(w*t), sin(w*t)
        ff, fn = m1*c*c + m2*s*s, (m2 - m1)*s*c
        ud = -(fn*(y[2]*w + e*sin(t)))/ff - e*cos(t)*w
        return np.array([*velocity(t, y), ud])

    def velocity(t, y):
        c, s = cos(w*t), sin(w*t)
        return y[2]*c + e*cos(t)*s, y[2]*s - e*cos(t)*c

    def report(t, y):
        v = velocity(t, y)
        return {'x': y[0], 'y': y[1], "x'": v[0], "y'": v[1]}

    def forces(t, y, d):
        lam = -sin(w*t)*m1*d["x'"] + cos(w*t)*m2*d["y'"]
        return {'lambda': lam, 'power': -e*cos(t)*lam}
    return Hand(rhs, [0, 0, 1.3], report, t1=10.0, forces=forces)


@check('contact_oscillator')
def _():
    return Hand(lambda t, y: np.array([y[3], y[4], y[1]*y[3], (-y[0] - y[1]*y[3]*y[4])/(1 + y[1]**2), -2*y[1]]),
                [0.8, 0, 0, 0, 1.5], particle, t1=10.0)


@check('two_wheeled_cart')
def _():
    m, J, a, b, r, Iw = 2, 0.3, 0.2, 0.25, 0.1, 0.004
    me, Je = m + 2*Iw/r**2, J + m*a*a + 2*Iw*b*b/r**2

    def rhs(t, y):
        u, om = y[5:]
        return np.array([u*cos(y[2]), u*sin(y[2]), om, (u + b*om)/r, (u - b*om)/r, m*a*om**2/me, -m*a*u*om/Je])
    return Hand(rhs, [0, 0, 0, 0, 0, 0, 2], lambda t, y: {
        'x': y[0], 'y': y[1], 'th': y[2], 'psi1': y[3], 'psi2': y[4], "x'": y[5]*cos(y[2]), "y'": y[5]*sin(y[2]),
        "th'": y[6], "psi1'": (y[5] + b*y[6])/r, "psi2'": (y[5] - b*y[6])/r}, t1=6.0)


@check('veselova')
def _():
    I = np.array([1, 1.7, 2.4])

    def rhs(t, y):                                              # M' = M x Omega + lambda Gamma; Omega'.Gamma = 0
        Om, Ga = y[:3], mat(y, 3).T @ e3
        free = np.cross(I*Om, Om)
        lam = -(Ga @ (free/I))/(Ga @ (Ga/I))
        return np.concatenate([(free + lam*Ga)/I, (mat(y, 3) @ hat(Om)).ravel()])
    c, s = cos(0.7), sin(0.7)
    h = Hand(rhs, np.concatenate([[0.9, 0.4, -0.4*s/c], [1, 0, 0, 0, c, -s, 0, s, c]]),
             lambda t, y: {'Omega': y[:3], 'R': mat(y, 3)}, t1=10.0, rotations=(3,))
    free = h.random

    def allowed(rng):
        y = free(rng)
        Ga = mat(y, 3).T @ e3
        y[:3] -= Ga*(Ga @ y[:3])
        return y
    h.random = allowed
    return h


@check('spherical_pendulum')
def _():
    def rhs(t, y):                                                               # Newton with the tension
        n, v = y[:3], y[3:]
        return np.concatenate([v, -e3 + n[2]*n - (v @ v)*n])
    h = Hand(rhs, [sin(0.9), 0, -cos(0.9), 0, 0.6*sin(0.9), 0], lambda t, y: {'n': y[:3], "n'": y[3:]}, t1=10.0,
             forces=lambda t, y, d: {'tension': y[3:] @ y[3:] - y[2]})

    def on_sphere(rng):
        n, v = rng.normal(size=3), rng.normal(size=3)
        n /= sqrt(n @ n)
        return np.concatenate([n, v - n*(n @ v)])
    h.random = on_sphere
    return h


@check('sliding_disk')
def _():
    m, J, R, c, k = 1, 0.5, 1, 0.5, 1

    def rhs(t, y):
        rub = c*(y[2] - R*y[3])
        return np.array([y[2], y[3], (-k*y[0] - rub)/m, R*rub/J])
    return Hand(rhs, [1, 0, 0, 2], lambda t, y: {'x': y[0], 'th': y[1], "x'": y[2], "th'": y[3]}, t1=10.0)


@check('spherical_robot')
def _():
    M, m, r, d, g, rate, tilt, kp, kd = 1, 2, 0.2, 0.1, 9.81, 4, 0.2, 1, 0.3
    J = 2/3*M*r*r

    def rod(a, b):  # and its first and second derivatives; the angles turn about axis 1, then about the turned axis 2
        sa, ca, sb, cb = sin(a), cos(a), sin(b), cos(b)
        p = -d*np.array([sb, -sa*cb, ca*cb])
        pa, pb = -d*np.array([0*a, -ca*cb, -sa*cb]), -d*np.array([cb, sa*sb, -ca*sb])
        return p, pa, pb, -d*np.array([0*a, sa*cb, -ca*cb]), -d*np.array([0*a, ca*sb, sa*sb]), -p

    def rhs(t, y):  # principle of virtual power over (w, alpha', beta'), with x' = w x r e3
        w, a, b, ad, bd, B = y[2:5], y[5], y[6], y[7], y[8], mat(y, 9)
        p, pa, pb, paa, pab, pbb = (B @ v for v in rod(a, b))
        roll = -hat(r*e3)                                                   # x' = roll w
        bob = np.column_stack([roll - hat(p), pa, pb])                      # velocity of the mass = bob (w, a', b')
        rest = np.cross(w, np.cross(w, p) + 2*(pa*ad + pb*bd)) + paa*ad**2 + 2*pab*ad*bd + pbb*bd**2 + g*e3
        shell = np.column_stack([roll, np.zeros((3, 2))])
        A = M*shell.T @ shell + J*np.diag([1, 1, 1, 0, 0]) + m*bob.T @ bob
        motors = np.array([0, 0, 0, kp*(rate*t - a) + kd*(rate - ad), kp*(tilt - b) - kd*bd])
        z = np.linalg.solve(A, motors - m*bob.T @ rest)
        return np.concatenate([(roll @ w)[:2], z[:3], [ad, bd], z[3:], (hat(w) @ B).ravel()])

    def report(t, y):
        w, B = y[2:5], mat(y, 9)
        return {'x': y[:2], "x'": r*np.array([w[1], -w[0]]), 'B': B, 'W': B.T @ w, 'alpha': y[5], 'beta': y[6],
                "alpha'": y[7], "beta'": y[8]}
    return Hand(rhs, np.concatenate([np.zeros(9), np.eye(3).ravel()]), report, t1=3.0, rotations=(9,))


@check('rigid_bodies')
def _():
    K, m, I, D, stiff, reach, c = 3, 1, np.array([0.4, 0.5, 0.6]), 1, 1, 1.5, 0.3     # Newton-Euler, pair by pair
    member = lambda y, i: (y[18*i:18*i + 3], y[18*i + 3:18*i + 6], y[18*i + 6:18*i + 9], mat(y, 18*i + 9))

    def rhs(t, y):
        F, T = np.zeros((K, 3)), np.zeros((K, 3))
        for i in range(K):
            for j in range(K):
                if i != j:
                    (xi, _, _, Ri), (xj, _, _, Rj) = member(y, i), member(y, j)
                    n, ai, aj = xi - xj, Ri[:, 0], Rj[:, 0]
                    dist = sqrt(n @ n)
                    e = np.exp(-stiff*(dist - reach))
                    F[i] -= 2*D*stiff*(1 - e)*e*(1 + c*ai @ aj)*n/dist
                    T[i] -= D*(1 - e)**2*c*np.cross(ai, aj)
        parts = []
        for i in range(K):
            _, v, Om, R = member(y, i)
            parts += [v, F[i]/m, (np.cross(I*Om, Om) + R.T @ T[i])/I, (R @ hat(Om)).ravel()]
        return np.concatenate(parts)

    def report(t, y):
        out = {}
        for i in range(K):
            out[f'x[{i+1}]'], out[f"x[{i+1}]'"], out[f'Omega[{i+1}]'], out[f'R[{i+1}]'] = member(y, i)
        return out
    start = []
    for i in range(1, K + 1):
        x = 1.8/(2*sin(np.pi/K))*np.array([cos(2*np.pi*i/K), sin(2*np.pi*i/K), 0])
        R = np.array([[cos(i), -sin(i), 0], [sin(i), cos(i), 0], [0, 0, 1]])
        start += [x, 0.2*np.cross(e3, x), [0.3, 0.8, -0.5], R.ravel()]
    return Hand(rhs, np.concatenate(start), report, t1=3.0, rotations=(9, 27, 45))


@check('bicycle')
def _():
    # Newton-Euler for the four bodies, multiplied by the velocities that the coordinates allow (virtual power); rolling as
    # velocities of the material points at the contacts. Columns: x y yaw lean pitch steer rear front.
    g, w, c, tilt, rR, rF = 9.81, 1.02, 0.08, np.pi/10, 0.3, 0.35
    bodies = [(2, np.diag([0.0603, 0.12, 0.0603])), (85, np.array([[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]])),
              (4, np.array([[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]])),
              (3, np.diag([0.1405, 0.28, 0.1405]))]
    u = np.array([-sin(tilt), 0, cos(tilt)])

    def turn(axis, a):
        k = hat(axis)
        return np.eye(3) + sin(a)*k + (1 - cos(a))*k @ k

    def geometry(q):
        """orientations, places and velocity matrices of the bodies, and velocity matrices of the two contacts"""
        Rz, RzRx = turn(e3, q[2]), turn(e3, q[2]) @ turn(e1, q[3])
        RB = RzRx @ turn(e2, q[4])
        RH = RB @ turn(u, q[5])
        zero = np.zeros((3, 8), complex if np.iscomplexobj(q) else float)
        wB, vP = zero.copy(), zero.copy()
        wB[:, 2], wB[:, 3], wB[:, 4] = e3, Rz @ e1, RzRx @ e2
        wH, wR, wF = wB.copy(), wB.copy(), None
        wH[:, 5], wR[:, 6] = RB @ u, RB @ e2
        wF = wH.copy()
        wF[:, 7] = RH @ e2
        vP[0, 0] = vP[1, 1] = 1                                             # contact of the rear wheel, by its coordinates
        up = RzRx @ e3
        wL = wB.copy()                                                      # the plane that yaws and leans carries hub - P
        wL[:, 4] = 0
        hub, v_hub = np.array([q[0], q[1], 0]) + rR*up, vP - hat(rR*up) @ wL
        at = lambda R, w, p: (hub + R @ (p - rR*e3), v_hub - hat(R @ (p - rR*e3)) @ w)
        head, v_head = at(RB, wB, np.array([w + c, 0, 0]))
        on = lambda p: (head + RH @ (p - [w + c, 0, 0]), v_head - hat(RH @ (p - [w + c, 0, 0])) @ wH)
        hub2, v_hub2 = on(np.array([w, 0, rF]))
        a = RH @ e2
        spoke = rF*(a[2]*a - e3)/sqrt(1 - a[2]**2)
        parts = [(RB, hub, v_hub, wR), (RB, *at(RB, wB, np.array([0.3, 0, 0.9])), wB),
                 (RH, *on(np.array([0.9, 0, 0.7])), wH), (RH, hub2, v_hub2, wF)]
        rolling = np.concatenate([(v_hub - hat(-rR*up) @ wR)[:2], v_hub2 - hat(spoke) @ wF])
        return parts, rolling, (hub2 + spoke)[2]

    def solve(q, qd):
        parts, S, _ = geometry(q)
        moved, Sd, _ = geometry(q + 1j*STEP*qd)
        A, b = np.zeros((8, 8)), np.zeros(8)
        for (m, I), (R, p, V, W), (_, _, V1, W1) in zip(bodies, parts, moved):
            J, om = R @ I @ R.T, W @ qd                                     # wheels are round: R of frame and fork will do
            A += m*V.T @ V + W.T @ J @ W
            b -= m*V.T @ (V1.imag/STEP @ qd + g*e3) + W.T @ (J @ (W1.imag/STEP @ qd) + np.cross(om, J @ om))
        K = np.block([[A, -S.T], [S, np.zeros((5, 5))]])
        return np.linalg.solve(K, np.concatenate([b, -(Sd.imag/STEP) @ qd]))[:8]

    def rhs(t, y):
        return np.concatenate([y[8:], solve(y[:8], y[8:])])
    names = ['x', 'y', 'yaw', 'lean', 'pitch', 'steer', 'rear', 'front']
    h = Hand(rhs, [0]*8 + [5, 0, 0, 0.5, 0, 0, 5/rR, 5/rF],
             lambda t, y: {**dict(zip(names, y)), **{n + "'": v for n, v in zip(names, y[8:])}}, t1=1.0)

    def allowed(rng):  # the front wheel touches, the wheels roll
        q, v = 0.4*rng.normal(size=8), rng.normal(size=8)
        for _ in range(20):
            step = np.zeros(8)
            step[4] = 1
            q[4] -= geometry(q)[2]/(geometry(q + 1j*STEP*step)[2].imag/STEP)
        S = geometry(q)[1]
        return np.concatenate([q, v - np.linalg.pinv(S) @ (S @ v)])
    h.random = allowed
    return h


@check('bowl_ball')
def _():
    L = 1.5
    normal = lambda x: np.array([-x[0]/L, -x[1]/L, 1 + 0*x[0]])/sqrt(1 + (x[0]**2 + x[1]**2)/L**2)
    return ball_on_surface(1, 0.3, 0.4, 1, normal, [1, 0, 1/(2*L)], [0.4, 1, 3], t1=10.0)


@check('cone_ball')
def _():
    c, s, W = cos(0.7), sin(0.7), 0.6
    normal = lambda x: np.array([-s*x[0], -s*x[1], c*sqrt(x[0]**2 + x[1]**2)])/sqrt(x[0]**2 + x[1]**2)
    return ball_on_surface(1, 0.25, 0.4, 1, normal, [1.2*c, 0, 1.2*s], [0.5, -0.8, 2],
                           ground=lambda p: W*np.array([-p[1], p[0], 0*p[0]]), t1=10.0, spread=0.2)


@check('sphere_ball')
def _():
    n0 = np.array([sin(0.1), 0, cos(0.1)])
    h = ball_on_surface(1, 0.4, 0.4, 1, lambda x: x/1.4, 1.4*n0, 20*n0, t1=10.0)
    free = h.random

    def touching(rng):
        y = free(rng)
        y[:3] *= 1.4/sqrt(y[:3] @ y[:3])
        return y
    h.random = touching
    return h


# ---- the two comparisons ----------------------------------------------------------------------------------------

def against_file(name, hand, rng):
    """largest difference of the accelerations, relative to their size, at random states; and of the start"""
    m = Model(open(os.path.join(ROOT, 'models', name + '.nh')).read(), hand.sets)
    y = m.start()
    if m.open_start:
        raise ValueError(f'{name}: the start leaves {m.open_start} velocities open')

    def stack(values, velocities):
        return np.concatenate([np.ravel(values[s[3] if velocities else s[0]]) for s in m.slots])
    told = hand.report(0.0, hand.y0)
    worst = np.abs(np.concatenate([stack(told, False), stack(told, True)]) - y).max()
    for _ in range(20):
        t, z = rng.uniform(0, 3), hand.random(rng)
        now, rate = hand.report(t, z), hand.rates(t, z)
        a = m.solve(t, stack(now, False), stack(now, True))
        size = 1 + np.abs(a).max()
        kinematic = m.tangent(stack(now, False), stack(now, True)[None])[0] - stack(rate, False)
        residual = m.last['S'] @ stack(now, True) + m.last['s']
        worst = max(worst, np.abs(a - stack(rate, True)).max()/size, np.abs(kinematic).max()/size,
                    np.abs(residual).max(initial=0)/size)
    return worst


def program_run(program, model, t1, sets):
    args = [program, 'run', model, '--t1', repr(t1), '--rtol', '1e-13', '--atol', '1e-13', '--method', 'dop853', '--json',
            '--quiet']
    for k, v in sets.items():
        args += ['--set', f'{k}={v}']
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: exit code {p.returncode}\n{p.stderr}')
    return json.loads(p.stdout)


def against_program(name, hand, program):
    got = program_run(program, os.path.join(ROOT, 'models', name + '.nh'), hand.t1, hand.sets)
    y = Motion(hand.rhs, 0.0, hand.y0, tol=3e-14).to(hand.t1)
    worst = abs(got['t'] - hand.t1)
    extra = hand.forces(hand.t1, y, hand.rates(hand.t1, y)) if hand.forces else {}
    for part, want in (('state', hand.report(hand.t1, y)), ('observables', extra)):
        for k, v in want.items():
            if k not in got[part]:
                raise KeyError(f'{name}: no {k} in the {part} of the program ({", ".join(got[part])})')
            worst = max(worst, np.max(np.abs(np.array(got[part][k]) - v)/np.maximum(1, np.abs(v))))
    return worst


TWINS = {  # model: the same system in other coordinates
    'routh_sphere': 'routh_sphere_euler', 'cylinder_ball': 'cylinder_ball_euler', 'rattleback': 'rattleback_euler',
    'falling_disk': 'falling_disk_so3', 'pendulum': 'pendulum_holonomic'}


def twins(a, b, program):
    """each observable same_NAME of the twin against NAME of the model, at t = 10"""
    one = program_run(program, os.path.join(ROOT, 'models', a + '.nh'), 10.0, {})
    two = program_run(program, os.path.join(HERE, b + '.nh'), 10.0, {})
    shared = [k for k in two['observables'] if k.startswith('same_')]
    pick = lambda run, k: run['observables'][k] if k in run['observables'] else run['state'][k]
    worst = 0.0
    for k in shared:
        x, y = np.array(pick(one, k[5:])), np.array(two['observables'][k])
        worst = max(worst, np.max(np.abs(x - y)/np.maximum(1, np.abs(x))))
    if not shared:
        raise KeyError(f'{b}: nothing to compare')
    return max(worst, abs(one['energy'] - two['energy']))


def main(argv):
    program = None
    if '--program' in argv:
        i = argv.index('--program')
        program = argv[i + 1]
        del argv[i:i + 2]
    bad = 0

    def verdict(what, size, tol):
        nonlocal bad
        bad += not size <= tol
        print(f"{'ok   ' if size <= tol else 'WRONG'} {what}: {size:.1e}", flush=True)
    shipped = {f[:-3] for f in os.listdir(os.path.join(ROOT, 'models')) if f.endswith('.nh')}
    if not argv:
        missing = sorted(shipped - set(CHECKS))
        verdict('models without a check by hand: ' + (' '.join(missing) or 'none'), len(missing), 0)
    for name in argv or CHECKS:
        if name not in CHECKS:
            continue
        hand = CHECKS[name]()
        verdict(f'{name}, file', against_file(name, hand, np.random.default_rng(7)), 1e-11)
        if program:
            verdict(f'{name}, program', against_program(name, hand, program), 1e-9)
    for a, b in TWINS.items() if program else []:
        if not argv or a in argv:
            verdict(f'{a} and {b}', twins(a, b, program), 1e-9)
    return bad


if __name__ == '__main__':
    sys.exit(int(main(sys.argv[1:]) > 0))
