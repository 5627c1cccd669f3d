#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A second, slow reader of the model language (docs/language.md), written apart from the program. Needs numpy.

    reader.py FILE [--set NAME=VALUE]... [--only TEXT]      judges the expect statements of a model file

Mass matrix, linear term and potential are read off the Lagrangian by complex steps in the velocities, all other
derivatives by complex steps along the motion, primes by a forward sweep. The accelerations come from the saddle system.
A family `config x in ... [K]` is read as K coordinates x[1] ... x[K]."""
import re
import sys
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean
from oracle import Motion, STEP
from language import Eval, Parser, bhat, mul


class Model:
    def __init__(self, text, sets=None):
        self.sets = sets or {}
        self.params, self.coords, self.lets, self.observables, self.frames = {}, [], {}, {}, {}
        self.rows, self.prescribed, self.forces, self.starts, self.events, self.expects = [], [], [], [], {}, []
        self.sections = {}
        self.frictions, self.domains, self.generators, self.references, self.lagrangian = [], [], {}, [], None
        for s in statements(text):
            p = Parser(s)
            word = p.name()
            getattr(self, 'read_' + word)(p)
            if not p.end():
                raise SyntaxError(f'left over in {s!r}')
        self.layout()

    def read_model(self, p):
        self.name = p.name()
        if p.toks[p.i][0] == 'str':
            p.i += 1

    def read_param(self, p):
        while True:
            n = p.name()
            p.need('=')
            x = p.expr()
            whole = bool(p.take('integer'))
            self.params[n] = (x, whole)
            if not p.take(','):
                return

    def read_config(self, p):
        while True:
            n = p.name()
            p.need('in')
            space, dim = p.name(), ('num', 1.0)
            if space == 'R' and p.take('^'):
                dim, space = p.atom(), 'R^n'
            velocity, count = p.name() if p.take('velocity') else n + "'", None
            if p.take('['):
                count = p.expr()
                p.need(']')
            self.coords.append((n, space, dim, velocity, count))
            if not p.take(','):
                return

    def read_let(self, p):
        while True:
            n, args = p.name(), []
            if p.take('('):
                args = [p.name()]
                while p.take(','):
                    args.append(p.name())
                p.need(')')
            p.need('=')
            self.lets[n] = (args, p.expr())
            if not p.take(','):
                return

    def read_lagrangian(self, p):
        self.lagrangian = p.expr()

    def equation(self, p):
        a = p.sum()
        p.need('=')
        b = p.sum()
        return a if b == ('num', 0.0) else ('-', a, b)  # 0 fits every shape

    def read_constraint(self, p):
        at = p.i
        if p.toks[p.i][0] == 'name' and not (p.name() and p.take(':')):  # no name of its own
            p.i = at
        self.rows.append(('velocity', self.equation(p), None))

    def read_holonomic(self, p):
        self.rows.append(('position', self.equation(p), None))

    def read_prescribe(self, p):
        while True:
            n = p.name()
            p.need('=')
            self.rows.append(('position', ('-', ('name', n), p.expr()), n))
            self.prescribed.append(n)
            if not p.take(','):
                return

    def target(self, p):
        n = p.name()
        if p.take("'"):
            n += "'"
        ix = None
        if p.take('['):
            ix = p.expr()
            p.need(']')
        if ix is not None and p.take("'"):
            n += "'"
        p.need('=')
        return n, ix, p.expr()

    def read_force(self, p):
        while True:
            self.forces.append(self.target(p))
            if not p.take(','):
                return

    def read_friction(self, p):
        """friction EXPR = c: the force -c EXPR along the gradient of EXPR in the velocities"""
        x = p.sum()
        p.need('=')
        c = p.expr()
        self.frictions.append((x, c, self.ranges(p)))

    def read_frame(self, p):
        self.pairs(p, self.frames)

    def read_observable(self, p):
        self.pairs(p, self.observables)

    def pairs(self, p, into):
        while True:
            n = p.name()
            into[n] = p.expr() if p.take('=') else ('name', n)
            if not p.take(','):
                return

    def read_domain(self, p):
        while True:
            x = p.sum()
            p.need('in')
            lo = p.sum()
            p.need('..')
            self.domains.append((x, lo, p.sum()))
            if not p.take(','):
                self.ranges(p)
                return

    def read_event(self, p):
        n = p.name()
        p.need(':')
        x = self.equation(p)
        d = {'rising': 1, 'falling': -1, None: 0}[p.take('rising', 'falling')]
        self.events[n] = (x, d, bool(p.take('terminal')))
        p.take('cuts')

    def read_section(self, p):
        n = p.name()
        p.need(':')
        x = self.equation(p)
        self.sections[n] = (x, {'rising': 1, 'falling': -1, None: 0}[p.take('rising', 'falling')])

    def read_generator(self, p):
        n = p.name()
        p.need(':')
        parts = [self.target(p)]
        while p.take(','):
            parts.append(self.target(p))
        self.generators[n] = parts
        self.ranges(p)

    def ranges(self, p):
        """for i in m..n at the end of a statement"""
        if not p.take('for'):
            return None
        i = p.name()
        p.need('in')
        lo = p.sum()
        p.need('..')
        return i, lo, p.sum()

    def members(self, rng):
        """the values of the index of ranges(), one after the other"""
        i, lo, hi = rng or (None, ('num', 1.0), ('num', 1.0))
        first, last = (int(Eval(self, self.penv).value(x)[0].real) for x in (lo, hi))
        return [{i: (np.full(1, float(k)), None)} for k in range(first, last + 1)]

    def read_start(self, p):
        new = [self.target(p)]
        while p.take(','):
            new.append(self.target(p))
        rng = self.ranges(p)
        self.starts += [(*s, rng) for s in new]

    read_guess = read_start  # models that are checked have guesses that fit

    def read_draw(self, p):  # pictures do not touch the motion
        p.i = len(p.toks) - 1

    read_candidate = read_noise = read_temperature = read_draw  # motions are compared without noise

    def read_relation(self, p):  # the constraints keep it by themselves
        self.equation(p)
        self.ranges(p)

    def read_reference(self, p):
        p.name()
        assert p.toks[p.i][0] == 'str'
        p.i += 1

    def read_expect(self, p):
        e = {'text': p.text, 'when': {}}
        if p.peek('conserved', 'not') or (p.peek('mean', 'var') and p.toks[p.i + 1][1] == '('):
            p.i = len(p.toks) - 1  # proofs, and paths with noise
            return
        if p.toks[p.i][1] in self.events and (p.toks[p.i + 1][1] in ('first', 'occurs') or p.toks[p.i + 1][0] == 'num'):
            e['event'] = p.name()
            if p.take('occurs'):
                e.update(kind='count', value=p.expr())
                p.need('times')
                p.need('over')
                e['time'] = p.expr()
            else:
                e.update(kind='event', nth=1 if p.take('first') else int(float(p.atom()[1])))
                p.need('at')
                e['time'] = p.expr()
                p.need('within')
                e['tol'] = p.expr()
        else:
            e['x'] = p.sum()
            e['time'] = ('num', 0.0)
            if p.take('at'):
                e['time'], e['kind'] = p.sum(), 'at'
            if p.take('constant'):
                e['kind'] = 'constant'
                p.need('within')
                e['tol'] = p.expr()
            elif p.take('varies'):
                e['kind'] = 'varies'
                p.need('by')
                e['tol'] = p.expr()
            else:
                p.need('=')
                e['value'] = p.expr()
                p.need('within')
                e['tol'] = p.expr()
                e.setdefault('kind', 'at')
            if p.take('over'):
                e['kind'] = 'along' if e['kind'] == 'at' else e['kind']
                e['time'] = p.expr()
        if p.take('when'):
            while True:
                n = p.name()
                p.need('=')
                e['when'][n] = p.expr()
                if not p.take(','):
                    break
        self.expects.append(e)

    # -- numbers
    def layout(self):
        env, self.families = {}, set()
        for n, (x, whole) in self.params.items():
            v = self.sets.get(n, x)
            v = Parser(v).expr() if isinstance(v, str) else v
            env[n] = Eval(self, env).value(v) if isinstance(v, tuple) else np.full(1, float(v))
        self.penv, self.slots, iq, iv = env, [], 0, 0
        for n, space, dim, vel, count in self.coords:
            k = int(Eval(self, env).value(dim)[0].real) if space == 'R^n' else 3 if space in ('S2', 'SO3') else 1
            if space == 'S2':
                self.rows.append(('position', ('-', ('call', 'dot', ('name', n), ('name', n)), ('num', 1.0)), None))
            nq = 9 if space == 'SO3' else k
            members = [(n, vel)]
            if count is not None:
                members = [(f'{n}[{i + 1}]', member_velocity(n, vel, i + 1))
                           for i in range(int(Eval(self, env).value(count)[0].real))]
                self.families |= {n, vel}
            for name, velocity in members:
                self.slots.append((name, space, k, velocity, slice(iq, iq + nq), slice(iv, iv + k)))
                iq, iv = iq + nq, iv + k
        self.nq, self.n = iq, iv
        self.near = None

    def eval(self, t, q, xi):
        """q [batch, nq], xi [batch, n], t [batch] -> an evaluator"""
        env, rates = dict(self.penv), {'t': np.ones(1)}
        env['t'] = t
        for n, space, k, vel, sq, sv in self.slots:
            if space == 'SO3':
                env[n] = q[:, sq].reshape(-1, 3, 3)
                env[vel] = xi[:, sv]
                rates[n] = mul(*np.broadcast_arrays(env[n], bhat(xi[:, sv])))
            else:
                one = space in ('R', 'S1')
                env[n] = q[:, sq][:, 0] if one else q[:, sq]
                env[vel] = xi[:, sv][:, 0] if one else xi[:, sv]
                rates[n] = env[vel]
        return Eval(self, env, rates)

    def tangent(self, q, eta):
        """qdot of velocities eta [batch, n] at q [nq]"""
        out = np.zeros((len(eta), self.nq), eta.dtype)
        for n, space, k, vel, sq, sv in self.slots:
            out[:, sq] = (q[sq].reshape(1, 3, 3) @ bhat(eta[:, sv])).reshape(-1, 9) if space == 'SO3' else eta[:, sv]
        return out

    def lag(self, t, q, xi):
        v = self.eval(t, q, xi).value(self.lagrangian)
        return np.broadcast_to(v, (len(xi),))

    def residual(self, t, q, xi):
        ev, out = self.eval(t, q, xi), []
        for kind, x, _ in self.rows:
            v, d = ev.jet(x, {})
            v = v if kind == 'velocity' else 0*v if d is None else d
            v = np.broadcast_to(v, (len(xi),) + v.shape[1:])
            out.append(v.reshape(len(v), -1))
        return np.concatenate(out, 1) if out else np.zeros((len(xi), 0))

    def constraint(self, t, q):
        r = self.residual(np.full(1, t), q[None], np.concatenate([np.eye(self.n), np.zeros((1, self.n))]))
        return (r[:-1] - r[-1]).T, r[-1]

    def solve(self, t, q, xi):
        """accelerations by the saddle system, everything evaluated in two batches; moved points carry imaginary steps"""
        n, eye = self.n, np.eye(self.n)
        if self.near is None:  # velocities e_j (and 0) with an imaginary step in each direction i
            base = np.concatenate([eye, np.zeros((1, n))])
            self.near = (base[None, :, :] + 1j*STEP*eye[:, None, :]).reshape(-1, n)
        around = np.concatenate([xi + eye, xi - eye])
        moves = 1j*STEP*self.tangent(q, np.concatenate([xi[None], eye]))
        k = len(self.near)
        V = np.concatenate([self.near, around, np.broadcast_to(xi, (n + 1, n))])
        Q = np.empty((len(V), self.nq), complex)
        Q[:k], Q[k:k + 2*n], Q[k + 2*n:-1], Q[-1] = q, q + moves[0], q + moves[1:], q
        T = np.full(len(Q), t, complex)
        T[k:k + 2*n] += 1j*STEP
        l = self.lag(T, Q, V)
        slopes = l[:k].imag.reshape(n, n + 1)/STEP
        M, b = slopes[:, :n] - slopes[:, n:], slopes[:, n]
        p = M @ xi + b
        dp = (l[k:k + n] - l[k + n:k + 2*n]).imag/2/STEP
        top = l[k + 2*n:-1].imag/STEP - dp
        if self.forces or self.frictions:
            top += self.force(np.full(1, t), q, xi)
        for name, space, d, vel, sq, sv in self.slots:
            if space == 'SO3':
                top[sv] += np.cross(p[sv], xi[sv])
        T = np.full(n + 2, t, complex)
        T[-1] += 1j*STEP
        r = self.residual(T, np.concatenate([np.broadcast_to(q, (n + 1, self.nq)), q[None] + moves[:1]]),
                          np.concatenate([eye, np.zeros((1, n)), xi[None]]))
        S, s, kappa = (r[:n] - r[n]).T.real, r[n].real, r[n + 1].imag/STEP
        c = len(S)
        K = np.block([[M, -S.T], [S, np.zeros((c, c))]])
        z = np.linalg.solve(K, np.concatenate([top, -kappa]))
        self.last = dict(M=M, S=S, s=s, p=p, lam=z[n:], l=l[-1].real, K=K)
        return z[:n]

    def project(self, t, y):
        """rotations made orthogonal, velocities put back onto the constraints, the nearest in the mass metric"""
        q, xi = y[:self.nq].copy(), y[self.nq:]
        for n, space, d, vel, sq, sv in self.slots:
            if space == 'SO3':
                u, _, v = np.linalg.svd(q[sq].reshape(3, 3))
                q[sq] = (u @ v).ravel()
        self.solve(t, q, xi)
        S, s, n = self.last['S'], self.last['s'], self.n
        if len(S) == 0:
            return y
        back = np.linalg.solve(self.last['K'], np.concatenate([np.zeros(n), -(S @ xi + s)]))
        return np.concatenate([q, xi + back[:n]])

    def force(self, T, q, xi):
        out = np.zeros(self.n)
        for name, ix, x in self.forces:
            sv = next(s[5] for s in self.slots if s[3] == name)
            v = self.eval(T, q[None], xi[None]).value(x).real[0]
            if ix is None:
                out[sv] += v
            else:
                out[sv.start + int(Eval(self, self.penv).value(ix)[0].real) - 1] += v
        for x, c, rng in self.frictions:
            for loc in self.members(rng):
                at = lambda v: self.eval(T, q[None], v[None]).jet(x, loc)[0].real[0]
                G = np.array([at(e) - at(0*xi) for e in np.eye(self.n)])
                out -= Eval(self, self.penv).jet(c, loc)[0].real[0]*G*at(xi)
        return out

    def builtin(self, name, ev):
        t, q, xi = self.here
        self.solve(t, q, xi)
        L = self.last
        if name == 'energy':
            return np.full(1, L['p'] @ xi - L['l'])
        kind, n = name.split('.', 1)
        if kind == 'drive':
            i = 0
            for what, x, who in self.rows:
                if who == n:
                    return np.full(1, L['lam'][i])
                i += self.eval(np.full(1, t), q[None], xi[None]).value(x).reshape(1, -1).shape[1]
        _, space, k, vel, sq, sv = next(s for s in self.slots if s[0] == n)
        r = (L['S'].T @ L['lam'])[sv]
        return r if space in ('R', 'S1') else r[None]

    def observe(self, x, t, y):
        q, xi = y[:self.nq], y[self.nq:]
        self.here = t, q, xi
        return np.real(self.eval(np.full(1, t), q[None], xi[None]).value(x)[0])

    def flow(self, t, y):
        q, xi = y[:self.nq], y[self.nq:]
        return np.concatenate([self.tangent(q, xi[None])[0], self.solve(t, q, xi)])

    def start(self):
        """the start state; an error if the given values do not determine the velocities"""
        q, rows, rhs = np.zeros(self.nq), [], []
        for n, space, k, vel, sq, sv in self.slots:
            q[sq] = np.eye(3).ravel() if space == 'SO3' else [0, 0, 1] if space == 'S2' else 0
        velocities = []
        for kind, x, who in self.rows:
            if who:
                sq = next(s[4] for s in self.slots if s[0] == who)
                q[sq] = -self.observe(x, 0.0, np.concatenate([0*q, np.zeros(self.n)]))
        for n, ix, x, rng in self.starts:
            for loc in self.members(rng):
                ev = self.eval(np.zeros(1), q[None], np.zeros((1, self.n)))
                v = np.ravel(np.real(ev.jet(x, loc)[0][0]))
                at, who = None if ix is None else int(ev.jet(ix, loc)[0][0].real) - 1, n
                if n in self.families:
                    who, at = f"{n[:-1]}[{at + 1}]'" if n.endswith("'") else f'{n}[{at + 1}]', None
                hit = [s for s in self.slots if s[0] == who]
                if hit:
                    sq = hit[0][4]
                    q[sq if at is None else sq.start + at] = v if at is None or len(v) > 1 else v[0]
                else:
                    velocities.append((who, at, v))
        T, probe = np.zeros(1), np.concatenate([np.eye(self.n), np.zeros((1, self.n))])
        for n, at, v in velocities:
            if n in self.frames:
                r = self.eval(T, q[None], probe).value(self.frames[n]).real.reshape(len(probe), -1)
                for j in ([at] if at is not None else range(r.shape[1])):
                    rows.append(r[:-1, j] - r[-1, j])
                    rhs.append((v[0] if at is not None else np.ravel(v)[j]) - r[-1, j])
                continue
            sv = next(s[5] for s in self.slots if s[3] == n)
            for j in ([at] if at is not None else range(sv.stop - sv.start)):
                rows.append(np.eye(self.n)[sv.start + j])
                rhs.append(v[0] if at is not None else v[j])
        S, s = self.constraint(0.0, q)
        A = np.concatenate([S, np.array(rows).reshape(-1, self.n)])
        b = np.concatenate([-s, rhs])
        xi, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-12)
        if np.abs(A @ xi - b).max(initial=0) > 1e-12:
            raise ValueError('start values contradict the constraints')
        self.open_start = self.n - rank
        return np.concatenate([q, xi])


def member_velocity(family, velocity, i):
    return f"{family}[{i}]'" if velocity == family + "'" else f'{velocity}[{i}]'


def statements(text):
    out = []
    for line in text.splitlines():
        bare = re.sub(r'("[^"]*")|#.*', lambda m: m.group(1) or '', line)
        if not bare.strip():
            continue
        if bare[0] in ' \t':
            out[-1] += ' ' + bare.strip()
        else:
            out.append(bare.rstrip())
    return out


class Case:
    """The motion of one choice of parameters, and the expectations that belong to it."""

    def __init__(self, model, wanted):
        self.m, self.wanted = model, wanted
        self.y0 = model.start()
        self.err, self.lo, self.hi = {}, {}, {}
        ev = Eval(model, model.penv)
        num = lambda e, key: float(np.real(ev.value(e[key])[0])) if key in e else 0.0
        self.time = {i: num(e, 'time') for i, e in wanted.items()}
        self.tol = {i: num(e, 'tol') for i, e in wanted.items()}
        self.hits = {e['event']: [] for e in wanted.values() if 'event' in e}

    def until(self, i):
        return self.time[i] + (1.0 if self.wanted[i]['kind'] == 'event' else 0.0)

    def look(self, t, y):
        for i, e in self.wanted.items():
            T = self.time[i]
            if e['kind'] == 'at':
                if t == T:
                    self.compare(i, self.m.observe(e['value'], t, y), self.m.observe(e['x'], t, y))
            elif 'x' in e and abs(t) <= abs(T) and t*T >= 0:
                x = self.m.observe(e['x'], t, y)
                if t == 0:
                    self.lo[i] = self.hi[i] = x
                self.lo[i], self.hi[i] = np.minimum(self.lo[i], x), np.maximum(self.hi[i], x)
                if e['kind'] == 'along':
                    self.compare(i, self.m.observe(e['value'], t, y), x)
                elif e['kind'] == 'constant':
                    self.compare(i, self.err.setdefault(('start', i), x), x)

    def compare(self, i, v, x):
        self.err[i] = max(self.err.get(i, 0.0), np.max(np.abs(x - v)/np.maximum(1, np.abs(v))))

    def events(self, flow, mid):
        h = flow.t - flow.t_old
        inside = lambda c: flow.attempt(h*c, flow.t_old, flow.y_old)[0]
        cuts, z = [0, 0.25, 0.5, 0.75, 1], [flow.y_old, inside(0.25), mid, inside(0.75), flow.y]
        for name in self.hits:
            x, way, _ = self.m.events[name]
            g = lambda t, w: float(self.m.observe(x, t, w))
            v = [g(flow.t_old + h*c, w) for c, w in zip(cuts, z)]
            for k in range(4):
                if v[k] != 0 and v[k]*v[k + 1] <= 0 and (way == 0 or way*v[k] < 0):
                    self.hits[name].append(flow.t_old + h*flow.crossing(g, cuts[k], cuts[k + 1], v[k], v[k + 1]))

    def travel(self, sign):
        ends = [self.until(i) for i in self.wanted if self.until(i)*sign > 0]
        stops = sorted({self.time[i] for i in self.wanted if self.time[i]*sign > 0} | set(ends), key=abs)
        if not stops:
            return
        flow = Motion(self.m.flow, 0.0, self.y0, tol=3e-14, h_max=1.0)
        event_end = max([self.until(i) for i, e in self.wanted.items() if 'event' in e], default=0)
        for stop in stops:
            while flow.t != stop:
                flow.step(stop)
                h = (flow.t - flow.t_old)/2
                mid = flow.attempt(h, flow.t_old, flow.y_old)[0]
                if self.hits and flow.t_old < event_end:
                    self.events(flow, mid)
                self.look(flow.t_old + h, mid)
                flow.y = self.m.project(flow.t, flow.y)
                self.look(flow.t, flow.y)

    def verdicts(self):
        self.look(0.0, self.y0)
        self.travel(1)
        self.travel(-1)
        for i, e in self.wanted.items():
            tol, T = self.tol[i], self.time[i]
            if e['kind'] == 'count':
                n = sum(t <= T for t in self.hits[e['event']])
                want = float(Eval(self.m, self.m.penv).value(e['value'])[0])
                yield i, n == want, n
            elif e['kind'] == 'event':
                times = self.hits[e['event']]
                err = abs(times[e['nth'] - 1] - T)/max(1, abs(T)) if len(times) >= e['nth'] else np.inf
                yield i, err <= tol, err
            elif e['kind'] == 'varies':
                change = np.max(self.hi[i] - self.lo[i])
                yield i, change > tol, change
            else:
                yield i, self.err[i] <= tol, self.err[i]


def main(argv):
    sets, only, files, i = {}, None, [], 0
    while i < len(argv):
        if argv[i] == '--set':
            k, v = argv[i + 1].split('=', 1)
            sets[k] = v
            i += 1
        elif argv[i] == '--only':
            only = argv[i + 1]
            i += 1
        else:
            files.append(argv[i])
        i += 1
    bad = 0
    for f in files:
        text = open(f).read()
        base = Model(text, sets)
        base.start()
        print(f'{f}: {base.n} velocities, {len(base.constraint(0.0, base.start()[:base.nq])[1])} constraint rows'
              + (f', {base.open_start} start velocities left open' if base.open_start else ''), flush=True)
        groups = {}
        for k, e in enumerate(base.expects):
            if not only or only in e['text']:
                groups.setdefault(repr(e['when']), []).append(k)
        for ks in groups.values():
            when = base.expects[ks[0]]['when']
            m = Model(text, {**sets, **when}) if when else base
            for k, ok, size in Case(m, {k: m.expects[k] for k in ks}).verdicts():
                bad += not ok
                print(f"  {'holds' if ok else 'FAILS'} {size:8.1e}  {base.expects[k]['text']}", flush=True)
    return bad > 0


if __name__ == '__main__':
    sys.exit(int(main(sys.argv[1:])))
