# SPDX-License-Identifier: MIT
"""Equations by hand of the systems that roll. See check_models.py."""
import numpy as np

from hand import (Hand, ball_on_surface, body_names, body_on_plane, check, e1, e2, e3, mat, rubber_of_revolution,
                  turn_about)
from oracle import Corner, cross, hat, STEP

sin, cos, sqrt = np.sin, np.cos, np.sqrt
R_TILTED = np.array([[0.8, 0, -0.6], [0, 1, 0], [0.6, 0, 0.8]])


@check('routh_sphere')
@check('noisy_routh_sphere')
def _():
    r, l = 1.0, 0.2
    return body_on_plane(np.diag([0.35, 0.35, 0.4]), 1.0, 1.0, lambda G: r*G + l*e3, R_TILTED, [0.5, -0.4, 1.2],
                         [0, 0, r] + l*R_TILTED @ e3, t1=10.0)


@check('chaplygin_ball')
@check('noisy_chaplygin_ball')
def _():
    return body_on_plane(np.diag([0.35, 0.45, 0.6]), 1.0, 9.81, lambda G: G, R_TILTED, [0.5, -0.4, 1.2], [0, 0, 1.0],
                         t1=10.0)


@check('rattleback')
def _():
    c, s = cos(0.35), sin(0.35)
    Q = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    D = Q @ np.diag([4, 1.5625, 1]) @ Q.T
    return body_on_plane(np.diag([0.55, 1.05, 1.15]), 1.0, 1.0, lambda G: D @ G/sqrt(G @ D @ G), np.eye(3),
                         [0.2, 0, 0.5], [0, 0, 1.0], t1=10.0)


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


@check('bicycle')
def _():
    # Newton-Euler for the four bodies, multiplied by the velocities that the coordinates allow (virtual power); rolling
    # as velocities of the material points at the contacts. Columns: x y yaw lean pitch steer rear front.
    g, w, c, tilt, rR, rF = 9.81, 1.02, 0.08, np.pi/10, 0.3, 0.35
    bodies = [(2, np.diag([0.0603, 0.12, 0.0603])), (85, np.array([[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]])),
              (4, np.array([[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]])),
              (3, np.diag([0.1405, 0.28, 0.1405]))]
    u, turn = np.array([-sin(tilt), 0, cos(tilt)]), turn_about

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
        vP[0, 0] = vP[1, 1] = 1  # contact of the rear wheel, by its coordinates
        up = RzRx @ e3
        wL = wB.copy()  # the plane that yaws and leans carries hub - P
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
            J, om = R @ I @ R.T, W @ qd  # wheels are round: R of frame and fork will do
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


def torus(R, r):
    """solid: moments, and the arm from the contact to the centre"""
    arm = lambda G: R*np.array([G[0], G[1], 0*G[0]])/sqrt(G[0]**2 + G[1]**2) + r*G
    return (4*R**2 + 5*r**2)/8, (4*R**2 + 3*r**2)/4, arm


@check('rubber_torus')
def _():
    R, r = 1, 0.4
    I1, I3, _ = torus(R, r)
    return rubber_of_revolution('tyre', 1, 1, I1, I3, lambda th: R + r*sin(th), lambda th: r*cos(th), lambda th: r,
                                (1.1, 0, 0.9))


@check('rubber_ellipsoid')
def _():
    a, c = 1, 0.6
    z = lambda th: sqrt(a**2*sin(th)**2 + c**2*cos(th)**2)
    I1, I3, th = (a*a + c*c)/5, 2/5*a*a, 0.9
    over = (a**2 - c**2)*sin(th)*cos(th)/z(th)
    tipping = 0.3/(I1 + over**2 + z(th)**2)
    rolling = 0.4/(sqrt(I1*cos(th)**2 + I3*sin(th)**2 + z(th)**2)*sin(th)**2)
    return rubber_of_revolution('lens', 1, 1, I1, I3, lambda th: a**2*sin(th)/z(th), lambda th: c**2*cos(th)/z(th),
                                lambda th: a**2*c**2/z(th)**3, (th, tipping, rolling))


@check('rubber_routh_sphere')
def _():
    r, l = 1, 0.2
    return rubber_of_revolution('ball', 1, 1, 0.35, 0.4, lambda th: r*sin(th), lambda th: l + r*cos(th), lambda th: r,
                                (1.8, 0.2, 0.8))


@check('rubber_disk')
def _():
    return rubber_of_revolution('coin', 1, 9.8, 0.25, 0.5, lambda th: 1, lambda th: 0, lambda th: 0, (1.2, 0.4, 3))


@check('truncated_ball')
def _():
    rho, d = 1, 0.6  # moments by integration over slices across the axis
    z, weight = np.polynomial.legendre.leggauss(8)
    z = (rho - d)/2 + (rho + d)/2*z
    weight = weight*(rho**2 - z**2)
    weight = weight/sum(weight)
    up = weight @ z
    I3 = weight @ (rho**2 - z**2)/2
    I1 = I3/2 + weight @ (z - up)**2
    edge = Corner(lambda th: cos(th) - d/rho, lambda y: y[0])
    return rubber_of_revolution(
        'ball', 1, 1, I1, I3, lambda th: sqrt(rho**2 - d**2) + 0*th if edge.above(th) else rho*sin(th),
        lambda th: up + (d + 0*th if edge.above(th) else rho*cos(th)), lambda th: 0*th if edge.above(th) else rho,
        (1.2, -0.8, 0.7), t1=3.0, corners=(edge,))


@check('rolling_torus')
def _():
    I1, I3, arm = torus(1, 0.4)
    th, turning, rolling = 1.1, 0.3, 0.9
    R0 = turn_about(e1, th)
    return body_on_plane(np.diag([I1, I1, I3]), 1, 1, arm, R0, [0, turning*sin(th), turning*cos(th) + rolling],
                         R0 @ arm(R0.T @ e3), names=body_names('tyre'), t1=10.0)


@check('chaplygin_top')
def _():
    l, R0 = np.array([0.1, -0.05, 0.2]), turn_about(e2, -0.5)
    x0 = [0, 0, 1 + (R0 @ l)[2]]
    return body_on_plane(np.diag([0.35, 0.45, 0.6]), 1, 1, lambda G: G + l, R0, [0.5, -0.4, 1.2], x0,
                         names=body_names('ball'), t1=10.0)


@check('rubber_ball')
def _():
    l, R0 = np.array([0.1, -0.05, 0.2]), turn_about(e2, -0.5)
    x0 = [0, 0, 1 + (R0 @ l)[2]]
    return body_on_plane(np.diag([0.35, 0.45, 0.6]), 1, 1, lambda G: G + l, R0,
                         np.cross(R0.T @ e3, [0.4, 0.9, -0.3]), x0, names=body_names('ball'), rubber=True, t1=10.0)


@check('euler_disk')
def _():
    m, R, h, g, al, push = 1, 1, 0.17, 1, 0.3, 0.02
    I1, I3, s, c = m*(3*R**2 + 4*h**2)/12, m*R**2/2, sin(0.3), cos(0.3)
    W = sqrt(m*g*(R*c - h*s)/(s*(I1*c - I3*h/R*s)))
    arm = lambda G: R*np.array([G[0], G[1], 0*G[0]])/sqrt(G[0]**2 + G[1]**2) + h*np.sign(G[2].real)*e3
    R0 = turn_about(e1, al)
    x0 = R0 @ arm(R0.T @ e3)
    return body_on_plane(np.diag([I1, I1, I3]), m, g, arm, R0, [push, W*s, W*h/R*s], [0, 0, x0[2]],
                         names=body_names('coin'), t1=10.0)


@check('rubber_sphere_ball')
def _():
    m, a, L, J = 1, 0.5, 1.5, np.diag([0.05, 0.08, 0.11])

    def rhs(t, y):  # J Omega' = J Omega x Omega - a n x F + mu n, F = m x'', all in the frame of the ball
        Om, R, x = y[:3], mat(y, 3), y[12:]
        n = R.T @ x/L
        v = a*np.cross(Om, n)
        nd = v/L - np.cross(Om, n)
        rest = np.cross(Om, a*nd) + np.cross(Om, v)                     # x'' without Omega' x a n
        A = J - m*a*a*hat(n) @ hat(n)
        b = np.cross(J @ Om, Om) - m*a*np.cross(n, rest)
        z = np.linalg.solve(np.block([[A, -n[:, None]], [n, 0]]), np.append(b, -Om @ nd))
        return np.concatenate([z[:3], (R @ hat(Om)).ravel(), R @ v])

    def report(t, y):
        R = mat(y, 3)
        return {'ball.R': R, 'ball.Omega': y[:3], 'ball.x': y[12:], "ball.x'": R @ cross(y[:3], a/L*R.T @ y[12:])}
    hand = Hand(rhs, np.concatenate([[0.7, -0.4, 0], np.eye(3).ravel(), [0, 0, L]]), report, rotations=(3,), t1=10.0)
    free = hand.random

    def allowed(rng):
        y = free(rng)
        y[12:] *= L/sqrt(y[12:] @ y[12:])
        n = mat(y, 3).T @ y[12:]/L
        y[:3] -= n*(n @ y[:3])
        return y
    hand.random = allowed
    return hand


@check('tippe_top')
def _():
    m, r, l, g, c, I = 1, 1, 0.3, 1, 0.3, np.diag([0.35, 0.35, 0.4])

    def velocity(y):
        return np.array([y[15], y[16], -l*cross(mat(y, 3).T @ e3, y[:3])[2]])

    def rhs(t, y):  # Newton-Euler with the normal force N as an unknown; x3'' = -l Gamma3''
        Om, R = y[:3], mat(y, 3)
        Ga = R.T @ e3
        rc, v = l*e3 - r*Ga, velocity(y)
        slip = v + R @ np.cross(Om, rc)
        F = -c*np.array([slip[0], slip[1], 0])
        A = np.zeros((4, 4))                                            # unknowns Omega', N
        A[:3, :3], A[:3, 3] = I, -np.cross(rc, Ga)
        A[3, :3], A[3, 3] = -l*np.cross(e3, Ga), -1/m                   # e3.(Ga x Om') = Om'.(e3 x Ga)
        b = np.append(np.cross(I @ Om, Om) + np.cross(rc, R.T @ F), -g + l*np.cross(np.cross(Ga, Om), Om)[2])
        z = np.linalg.solve(A, b)
        return np.concatenate([z[:3], (R @ hat(Om)).ravel(), v, F[:2]/m])

    def report(t, y):
        return {'Omega': y[:3], 'R': mat(y, 3), 'x': y[12:15], "x'": velocity(y)}
    R0 = turn_about(e1, 0.1)
    return Hand(rhs, np.concatenate([[0, 0, 6], R0.ravel(), [0, 0, r - l*cos(0.1)], [0, 0]]), report, rotations=(3,),
                t1=10.0)


@check('paraboloid_rattleback')
def _():
    a1, a2, h, J, Q = 9, 4, 1, np.diag([2, 6, 7]), turn_about(e3, 0.485)

    def arm(G):
        n = Q.T @ G
        return -Q @ np.array([-a1*n[0]/n[2], -a2*n[1]/n[2], -h + (a1*n[0]**2 + a2*n[1]**2)/(2*n[2]**2)])
    R0 = turn_about(e1, 0.1)
    G = R0.T @ e3
    s, across = arm(G), np.cross(arm(G), G)
    spin = sqrt(2*(7.52 - (R0 @ s)[2])/(G @ J @ G + across @ across))
    return body_on_plane(J, 1, 1, arm, R0, spin*G, [0, 0, (R0 @ s)[2]], t1=10.0)
