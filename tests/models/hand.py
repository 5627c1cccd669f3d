# SPDX-License-Identifier: MIT
"""What the equations by hand are made of: the class Hand, Newton-Euler for bodies that roll. See check_models.py."""
import numpy as np

from oracle import cross, hat, STEP

e1, e2, e3 = np.eye(3)
sin, cos, sqrt = np.sin, np.cos, np.sqrt
CHECKS = {}


class Hand:
    """Equations by hand: rhs(t, y), a start y0, and report(t, y) -> coordinates and velocities under their names.
    rotations: places in y of rotation matrices (9 numbers by rows), which random states must keep orthogonal.
    forces(t, y, rates) -> observables of the model file that show reactions and drives.
    corners: where rhs passes from one formula to another (oracle.Corner)."""

    def __init__(self, rhs, y0, report, sets=None, t1=2.0, rotations=(), spread=0.4, forces=None, corners=()):
        self.rhs, self.y0, self.report, self.corners = rhs, np.array(y0, float), report, corners
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
    return lambda t, y: {'x': y[0], 'y': y[1], angle: y[2], "x'": y[3]*cos(y[2]), "y'": y[3]*sin(y[2]),
                         angle + "'": y[4]}


def particle(t, y):
    """y = (x, y, z, x', y') with z' = y x'"""
    return {'x': y[0], 'y': y[1], 'z': y[2], "x'": y[3], "y'": y[4], "z'": y[1]*y[3]}


def turning_body(t, y):
    return {'Omega': y[:3], 'R': mat(y, 3)}


def body_on_plane(I, m, g, arm, R0, Om0, x0, names=('R', 'Omega', 'x'), rubber=False, **kw):
    """Newton-Euler for a rigid body that rolls: arm(Gamma) from the contact to the centre of mass, body frame.
    m d/dt(R(Omega x s)) = force - m g e3 at the contact; I Omega' + Omega x I Omega = -s x force (+ mu Gamma for
    rubber, where Omega.Gamma = 0)."""
    def rhs(t, y):
        Om, R = y[:3], mat(y, 3)
        Ga = R.T @ e3
        s, sd = arm(Ga), arm(Ga + 1j*STEP*np.cross(Ga, Om)).imag/STEP
        rest = np.cross(Om, sd) + np.cross(Om, np.cross(Om, s)) + g*Ga  # acceleration without the Omega' term, + g
        A, b = I - m*hat(s) @ hat(s), -np.cross(Om, I @ Om) - m*np.cross(s, rest)
        if rubber:
            A, b = np.block([[A, -Ga[:, None]], [Ga, 0]]), np.append(b, 0)
        return np.concatenate([np.linalg.solve(A, b)[:3], (R @ hat(Om)).ravel(), R @ np.cross(Om, s)])

    def report(t, y):
        R = mat(y, 3)
        return {names[1]: y[:3], names[0]: R, names[2]: y[12:], names[2] + "'": R @ cross(y[:3], arm(R.T @ e3))}
    h = Hand(rhs, np.concatenate([Om0, np.ravel(R0), x0]), report, rotations=(3,), **kw)
    if rubber:
        without_twist(h, lambda y: mat(y, 3).T @ e3)
    return h


def without_twist(hand, normal):
    """random states with y[:3], the angular velocity, across the normal"""
    free = hand.random

    def allowed(rng):
        y = free(rng)
        n = normal(y)
        y[:3] -= n*(n @ y[:3])/(n @ n)
        return y
    hand.random = allowed


def body_names(name):
    return name + '.R', name + '.Omega', name + '.x'


def rubber_of_revolution(name, m, g, I1, I3, h, f, r, start, **kw):
    """K, theorem 1 and the reconstruction (errata E): y = (theta, psi, phi, x, y, p_theta, ell), (x, y) the contact.
    h(theta) distance of the contact from the axis, f(theta) of the centre of mass over the contact along the axis,
    r(theta) radius of curvature."""
    B = lambda th: I1 + m*(h(th)**2 + f(th)**2)
    N = lambda th: sqrt(I1*cos(th)**2 + I3*sin(th)**2 + m*(h(th)*sin(th) + f(th)*cos(th))**2)

    def rhs(t, y):
        th, _, ph, _, _, p, ell = y
        slope = B(th + 1j*STEP).imag/STEP
        over = h(th)*cos(th) - f(th)*sin(th)
        thd, psd = p/B(th), ell/(N(th)*sin(th)**2)
        pd = p*p*slope/(2*B(th)**2) + ell**2*cos(th)/sin(th)**3 - m*g*over
        return np.array([thd, psd, -cos(th)*psd, -h(th)*psd*cos(ph) + r(th)*thd*sin(ph),
                         -h(th)*psd*sin(ph) - r(th)*thd*cos(ph), pd, 0])

    def report(t, y):
        th, ps, ph, x, z, p, ell = y
        thd, psd = p/B(th), ell/(N(th)*sin(th)**2)
        phd = -cos(th)*psd
        R = turn_about(e3, ph) @ turn_about(e1, th) @ turn_about(e3, ps)
        Om = np.array([phd*sin(th)*sin(ps) + thd*cos(ps), phd*sin(th)*cos(ps) - thd*sin(ps), phd*cos(th) + psd])
        over, height = h(th)*cos(th) - f(th)*sin(th), h(th)*sin(th) + f(th)*cos(th)
        C = np.array([x - over*sin(ph), z + over*cos(ph), height])
        arm = C - np.array([x, z, 0*x])
        names = body_names(name)
        return {names[0]: R, names[1]: Om, names[2]: C, names[2] + "'": cross(R @ Om, arm)}

    theta0, tipping, rolling = start
    y0 = [theta0, 0, 0, 0, 0, B(theta0)*tipping, N(theta0)*sin(theta0)**2*rolling]
    return Hand(rhs, y0, report, **{'t1': 10.0, 'spread': 0.1, **kw})


def turn_about(axis, a):
    k = hat(axis)
    return np.eye(3) + sin(a)*k + (1 - cos(a))*k @ k


def ball_on_surface(m, a, kappa, g, normal, x0, w0, ground=lambda x: 0*x, names=('x', 'B', 'W'), **kw):
    """Newton-Euler for a homogeneous ball with the centre x that rolls on a surface: normal(x) from the surface into
    the ball, ground(p) velocity of the surface at its point p. x' = w x a n + ground, m x'' = F - m g e3,
    I w' = -a n x F; hence (1 + kappa) a w' = -n x c, c = w x a n' + ground' + g e3."""
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
