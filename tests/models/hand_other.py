# SPDX-License-Identifier: MIT
"""Equations by hand of particles, blades, carts, tops: systems that do not roll on a surface. See check_models.py."""
import numpy as np

from hand import CHECKS, Hand, blade, check, e3, mat, particle, turning_body
from oracle import hat, STEP

sin, cos, sqrt = np.sin, np.cos, np.sqrt


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
    disk = CHECKS['noisy_vertical_disk']()
    disk.forces = lambda t, y, d: {'side_force': -d["x'"]*sin(y[1]) + d["y'"]*cos(y[1])}
    return disk


@check('noisy_vertical_disk')
def _():
    return Hand(lambda t, y: np.array([y[4], y[5], y[4]*cos(y[1]), y[4]*sin(y[1]), 0, 0]), [0, 0, 0, 0, 1, 1],
                lambda t, y: {'theta': y[0], 'phi': y[1], 'x': y[2], 'y': y[3], "theta'": y[4], "phi'": y[5],
                              "x'": y[4]*cos(y[1]), "y'": y[4]*sin(y[1])}, t1=6.0)


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


@check('pendulum')
def _():
    return Hand(lambda t, y: np.array([y[1], -sin(y[0])]), [2, 0], lambda t, y: {'theta': y[0], "theta'": y[1]},
                t1=10.0)


def masses(start, speed, c, sets):
    K, k, beta = 6, 1.0, 0.5                                                     # Newton, spring by spring

    def rhs(t, y):
        d = np.diff(y[:K])
        f = k*d + beta*d**3
        return np.concatenate([y[K:], np.append(f, 0) - np.append(0, f) - c*y[K:]])
    return Hand(rhs, np.concatenate([start, speed*np.ones(K)]), lambda t, y: {'q': y[:K], "q'": y[K:]}, sets=sets, t1=10.0)


@check('lattice')
def _():
    return masses(cos(np.pi*3*(np.arange(1, 7) - 0.5)/6), 0.1, 0, {'K': '6'})


@check('warm_lattice')
def _():
    return masses(cos(np.pi*(np.arange(1, 7) - 0.5)/6), 0, 0.5, {})


@check('rigid_body')
def _():
    I = np.array([1.0, 2, 3])                                                    # Euler
    return Hand(lambda t, y: np.concatenate([np.cross(I*y[:3], y[:3])/I, (mat(y, 3) @ hat(y[:3])).ravel()]),
                np.concatenate([[0.3, 0, 1], np.eye(3).ravel()]), turning_body, t1=10.0, rotations=(3,))


@check('heavy_top')
@check('noisy_heavy_top')
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
@check('warm_sliding_disk')
def _():
    m, J, R, c, k = 1, 0.5, 1, 0.5, 1

    def rhs(t, y):
        rub = c*(y[2] - R*y[3])
        return np.array([y[2], y[3], (-k*y[0] - rub)/m, R*rub/J])
    return Hand(rhs, [1, 0, 0, 2], lambda t, y: {'x': y[0], 'th': y[1], "x'": y[2], "th'": y[3]}, t1=10.0)


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


@check('underwater_vehicle')
def _():
    M, J = np.array([1.6, 2, 1]), np.array([1, 0.8, 0.5])                        # Kirchhoff, in the momenta
    p, c, th, k1, nu = 1, 0.3, 1.2, 0.2, 0.4

    def rhs(t, y):
        Pi, P, R = y[:3], y[3:6], mat(y, 6)
        Om, V = Pi/J, P/M
        return np.concatenate([np.cross(Pi, Om) + np.cross(P, V), np.cross(P, Om), (R @ hat(Om)).ravel(), R @ V])

    def report(t, y):
        return {'Omega': y[:3]/J, 'R': mat(y, 6), 'x': y[15:], "x'": mat(y, 6) @ (y[3:6]/M)}
    Pi0 = [k1, c*sin(th) + nu*cos(th), c*cos(th) - nu*sin(th)]
    return Hand(rhs, np.concatenate([Pi0, [0, p*sin(th), p*cos(th)], np.eye(3).ravel(), np.zeros(3)]), report, t1=6.0, rotations=(6,))
