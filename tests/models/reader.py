#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A second, slow reader of the model language (docs/language.md), written apart from the program. Needs numpy.

    reader.py FILE [--set NAME=VALUE]... [--only TEXT]      judges the expect statements of a model file

Mass matrix, linear term and potential are read off the Lagrangian by polarisation (exact, since it is quadratic in the
velocities), derivatives by complex steps, primes by a forward sweep. All evaluations of one right-hand side are done at once:
every value carries a leading batch axis. Families `config x in ... [K]` are not read."""
import re
import sys
import numpy as np
from oracle import Motion, hat, STEP

TOKEN = re.compile(r'''\s*(?:(?P<num>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z]\w*)|(?P<str>"[^"]*")
                      |(?P<op>\.\.|\^T\b|<=|>=|==|!=|[-+*/^'()\[\],=:<>.]))''', re.X)


def tokens(text):
    out, i = [], 0
    text = text.rstrip()
    while i < len(text):
        m = TOKEN.match(text, i)
        if not m:
            raise SyntaxError(f'cannot read {text[i:i+20]!r} in {text[:60]!r}')
        out.append((m.lastgroup, m.group(m.lastgroup)))
        i = m.end()
    return out + [('end', '')]


class Parser:
    def __init__(self, text):
        self.toks, self.i, self.text = tokens(text), 0, text

    def peek(self, *values):
        return self.toks[self.i][0] != 'str' and self.toks[self.i][1] in values

    def take(self, *values):
        if self.peek(*values):
            self.i += 1
            return self.toks[self.i - 1][1]
        return None

    def need(self, value):
        if not self.take(value):
            raise SyntaxError(f'expected {value!r} before {self.toks[self.i][1]!r} in {self.text!r}')

    def name(self):
        kind, v = self.toks[self.i]
        if kind != 'name':
            raise SyntaxError(f'expected a name before {v!r} in {self.text!r}')
        self.i += 1
        return v

    def end(self):
        return self.toks[self.i][0] == 'end'

    def expr(self):
        if self.take('if'):
            c = self.expr()
            self.need('then')
            a = self.expr()
            self.need('else')
            return ('if', c, a, self.expr())
        return self.left(('or',), lambda: self.left(('and',), self.negation))

    def left(self, ops, sub):
        x = sub()
        while True:
            op = self.take(*ops)
            if not op:
                return x
            x = (op, x, sub())

    def negation(self):
        if self.take('not'):
            return ('not', self.negation())
        x = self.sum()
        op = self.take('<', '<=', '>', '>=', '==', '!=')
        return (op, x, self.sum()) if op else x

    def sum(self):
        return self.left(('+', '-'), lambda: self.left(('*', '/'), self.unary))

    def unary(self):
        if self.take('-'):
            return ('neg', self.unary())
        x = self.postfix()
        return ('^', x, self.unary()) if self.take('^') else x

    def postfix(self):
        x = self.atom()
        while True:
            if self.take("'"):
                x = ('prime', x)
            elif self.take('^T'):
                x = ('transpose', x)
            elif self.take('['):
                ix = [self.expr()]
                while self.take(','):
                    ix.append(self.expr())
                self.need(']')
                x = ('index', x, *ix)
            else:
                return x

    def atom(self):
        if self.take('('):
            x = self.expr()
            self.need(')')
            return x
        if self.take('['):
            items = [self.expr()]
            while self.take(','):
                items.append(self.expr())
            self.need(']')
            return ('vector', *items)
        kind, v = self.toks[self.i]
        if kind == 'num':
            self.i += 1
            return ('num', float(v))
        n = self.name()
        if self.take('.'):
            return ('name', n + '.' + self.name())
        if n == 'sum' and self.take('('):
            i = self.name()
            self.need('in')
            lo = self.sum()
            self.need('..')
            hi = self.sum()
            self.need(',')
            body = self.expr()
            self.need(')')
            return ('sum', i, lo, hi, body)
        if self.take('('):
            args = [self.expr()]
            while self.take(','):
                args.append(self.expr())
            self.need(')')
            return ('call', n, *args)
        return ('name', n)


# ---- values with a batch axis, and first derivatives along a motion ('jets': value, rate) -----------------------------

def mul(a, b):
    """product by shapes: scalar with anything, matrix with matrix or vector, vector with a row"""
    if a.ndim == 1 or b.ndim == 1:
        return a.reshape(a.shape + (1,)*max(0, b.ndim - a.ndim))*b.reshape(b.shape + (1,)*max(0, a.ndim - b.ndim))
    if b.ndim == 2 and a.ndim == 3:
        return np.einsum('bij,bj->bi', a, b)
    if a.ndim == 2 and b.ndim == 3 and b.shape[1] == 1:
        return np.einsum('bi,bj->bij', a, b[:, 0])
    return np.einsum('bij,bjk->bik', a, b)


def transpose(a):
    return a[:, None, :] if a.ndim == 2 else np.swapaxes(a, 1, 2)


def atan2(y, x):
    z = np.arctan2(np.real(y), np.real(x))
    return z + 1j*(x.real*y.imag - y.real*x.imag)/(abs(x.real)**2 + abs(y.real)**2) if np.iscomplexobj(y + x) else z


def bhat(w):
    z = 0*w[:, 0]
    return np.stack([np.stack(r, 1) for r in ([z, -w[:, 2], w[:, 1]], [w[:, 2], z, -w[:, 0]], [-w[:, 1], w[:, 0], z])], 1)


UNARY = {  # value, derivative
    'sin': (np.sin, np.cos), 'cos': (np.cos, lambda x: -np.sin(x)), 'tan': (np.tan, lambda x: 1/np.cos(x)**2),
    'asin': (np.arcsin, lambda x: 1/np.sqrt(1 - x*x)), 'acos': (np.arccos, lambda x: -1/np.sqrt(1 - x*x)),
    'atan': (np.arctan, lambda x: 1/(1 + x*x)), 'sinh': (np.sinh, np.cosh), 'cosh': (np.cosh, np.sinh),
    'tanh': (np.tanh, lambda x: 1 - np.tanh(x)**2), 'exp': (np.exp, np.exp), 'log': (np.log, lambda x: 1/x),
    'sqrt': (np.sqrt, lambda x: 0.5/np.sqrt(x)), 'abs': (lambda x: np.where(x.real < 0, -x, x), lambda x: np.sign(x.real)),
    'sign': (lambda x: np.sign(x.real), lambda x: 0*x)}


class Eval:
    """Evaluates syntax trees; values are arrays [batch, shape]. jet() gives value and rate along the current motion."""

    def __init__(self, model, env, rates=None):
        self.m, self.env, self.rates, self.memo = model, env, rates or {}, {}

    def const(self, x):
        return np.full(1, x)

    def integer(self, node, loc):
        v = self.jet(node, loc)[0]
        k = int(round(float(np.real(v).ravel()[0])))
        return k

    def value(self, node):
        return self.jet(node, {})[0]

    def jet(self, node, loc):
        return getattr(self, 'do_' + NODE[node[0]])(node, loc)

    def do_num(self, node, loc):
        return self.const(node[1]), None

    def do_name(self, node, loc):
        n = node[1]
        if n in loc:
            return loc[n]
        if n in self.env:
            return self.env[n], self.rates.get(n)
        if n in FIXED:
            return FIXED[n][None], None
        if n in self.memo:
            return self.memo[n]
        if n in self.m.lets and not self.m.lets[n][0]:
            self.memo[n] = self.jet(self.m.lets[n][1], {})
            return self.memo[n]
        if n in self.m.observables:
            return self.jet(self.m.observables[n], {})
        if n in self.m.frames:
            return self.jet(self.m.frames[n], {})
        if n in ('energy',) or n.startswith(('drive.', 'reaction.')):
            return self.m.builtin(n, self), None
        raise NameError(f'unknown name {n}')

    def do_prime(self, node, loc):
        x = node[1]
        if x[0] == 'name' and x[1] + "'" in self.env:
            return self.env[x[1] + "'"], None
        if not self.rates:
            raise NameError('prime where no motion is known')
        v, d = self.jet(x, loc)
        return (0*v if d is None else d), None

    def do_binary(self, node, loc):
        op, (a, da), (b, db) = node[0], self.jet(node[1], loc), self.jet(node[2], loc)
        if op in '+-':
            s = 1 if op == '+' else -1
            if a.shape[1:] != b.shape[1:]:
                raise TypeError(f'shapes {a.shape[1:]} and {b.shape[1:]} in {node}')
            return a + s*b, None if da is None and db is None else (0 if da is None else da) + (0 if db is None else s*db)
        if op == '*':
            d = None if da is None else mul(da, b)
            return mul(a, b), d if db is None else mul(a, db) + (0 if d is None else d)
        r = 1/b
        d = None if da is None else mul(da, r)
        return mul(a, r), d if db is None else mul(a, -db*r*r) + (0 if d is None else d)

    def do_power(self, node, loc):
        (a, da), (b, db) = self.jet(node[1], loc), self.jet(node[2], loc)
        if np.all(b == b.real.round()) and db is None:
            k = int(b.real.ravel()[0])
            v = a**k
            return v, None if da is None else (k*a**(k - 1)*da if k else 0*a)
        v = np.exp(b*np.log(a))
        d = (0 if da is None else v*b*da/a) + (0 if db is None else v*np.log(a)*db)
        return v, None if da is None and db is None else d

    def do_neg(self, node, loc):
        a, d = self.jet(node[1], loc)
        return -a, None if d is None else -d

    def do_transpose(self, node, loc):
        a, d = self.jet(node[1], loc)
        return transpose(a), None if d is None else transpose(d)

    def do_index(self, node, loc):
        a, d = self.jet(node[1], loc)
        ix = tuple(self.integer(i, loc) - 1 for i in node[2:])
        if len(ix) != a.ndim - 1 or any(i < 0 or i >= n for i, n in zip(ix, a.shape[1:])):
            raise IndexError(f'{ix} in {node}')
        at = (slice(None),) + ix
        return a[at], None if d is None else d[at]

    def stack(self, parts):
        n = max(len(v) for v, d in parts)
        full = lambda x: np.broadcast_to(x, (n,) + x.shape[1:])
        v = np.stack([full(v) for v, d in parts], 1)
        if all(d is None for _, d in parts):
            return v, None
        n = max([n] + [len(d) for v, d in parts if d is not None])
        return v, np.stack([full(0*v if d is None else d) for v, d in parts], 1)

    def do_vector(self, node, loc):
        return self.stack([self.jet(x, loc) for x in node[1:]])

    def do_sum(self, node, loc):
        _, i, lo, hi, body = node
        v, d = self.const(0.0), None
        for k in range(self.integer(lo, loc), self.integer(hi, loc) + 1):
            a, da = self.jet(body, {**loc, i: (self.const(float(k)), None)})
            v = v + a if v.ndim == a.ndim else a
            d = d if da is None else (da if d is None else d + da)
        return v, d

    def do_if(self, node, loc):
        c = self.jet(node[1], loc)[0]
        (a, da), (b, db) = self.jet(node[2], loc), self.jet(node[3], loc)
        pick = lambda x, y: np.where(c.reshape(c.shape + (1,)*(x.ndim - 1)), x, y)
        return pick(a, b), None if da is None and db is None else pick(0*a if da is None else da, 0*b if db is None else db)

    def do_compare(self, node, loc):
        a, b = (self.jet(x, loc)[0] for x in node[1:3])
        a, b = (a, b) if node[0] in ('and', 'or') else (a.real, b.real)
        return {'<': np.less, '<=': np.less_equal, '>': np.greater, '>=': np.greater_equal, '==': np.equal,
                '!=': np.not_equal, 'and': np.logical_and, 'or': np.logical_or}[node[0]](a, b), None

    def do_not(self, node, loc):
        return np.logical_not(self.jet(node[1], loc)[0]), None

    def do_call(self, node, loc):
        f, args = node[1], node[2:]
        if f in self.m.lets:
            names, body = self.m.lets[f]
            return self.jet(body, dict(zip(names, [self.jet(a, loc) for a in args])))
        if f == 'angvel':
            a, d = self.jet(args[0], loc)
            w = mul(transpose(a), d)
            return np.stack([w[:, 2, 1], w[:, 0, 2], w[:, 1, 0]], 1), None
        if f in REWRITE and f not in ('min', 'max'):
            return REWRITE[f](self, loc, *args)
        x = [self.jet(a, loc) for a in args]
        v, d = x[0]
        if f in UNARY:
            return UNARY[f][0](v), None if d is None else UNARY[f][1](v)*d
        if f in ('min', 'max'):
            for b, db in x[1:]:
                c = (v.real <= b.real) == (f == 'min')
                d = None if d is None and db is None else np.where(c, 0*v if d is None else d, 0*b if db is None else db)
                v = np.where(c, v, b)
            return v, d
        if f == 'atan2':
            (y, dy), (z, dz) = x
            dd = ((0 if dy is None else z*dy) - (0 if dz is None else y*dz))/(y*y + z*z)
            return atan2(y, z), None if dy is None and dz is None else dd
        return BUILT[f](x)


def dot(x):
    (a, da), (b, db) = x
    v = np.sum(a*b, 1)
    return v, None if da is None and db is None else np.sum((0 if da is None else da*b) + (0 if db is None else a*db), 1)


def bcross(x):
    (a, da), (b, db) = x
    c = lambda u, w: mul(bhat(u), w)
    return c(a, b), None if da is None and db is None else (0 if da is None else c(da, b)) + (0 if db is None else c(a, db))


def root_of_squares(x):
    a, d = x[0]
    v = np.sqrt(np.sum(a*a, 1))
    return v, None if d is None else np.sum(a*d, 1)/v


def inverse(x):
    a, d = x[0]
    v = np.linalg.inv(a)
    return v, None if d is None else -mul(mul(v, d), v)


def det(x):
    a, d = x[0]
    v = np.linalg.det(a)
    return v, None if d is None else v*np.trace(mul(np.linalg.inv(a), d), axis1=1, axis2=2)


def diag(x):
    if len(x) == 1 and x[0][0].ndim == 2:
        a, d = x[0]
        x = [(a[:, i], None if d is None else d[:, i]) for i in range(a.shape[1])]
    n, k = max(len(v) for v, _ in x), len(x)
    out = np.zeros((n, k, k), complex if any(np.iscomplexobj(v) for v, _ in x) else float)
    for i, (v, d) in enumerate(x):
        out[:, i, i] = v
        assert d is None, 'diag of moving entries'
    return out, None


BUILT = {'dot': dot, 'cross': bcross, 'norm': root_of_squares, 'inverse': inverse, 'det': det, 'diag': diag,
         'transpose': lambda x: (transpose(x[0][0]), None if x[0][1] is None else transpose(x[0][1])),
         'trace': lambda x: tuple(None if y is None else np.trace(y, axis1=1, axis2=2) for y in x[0]),
         'hat': lambda x: (bhat(x[0][0]), None if x[0][1] is None else bhat(x[0][1])),
         'hypot': lambda x: root_of_squares([(np.stack(np.broadcast_arrays(x[0][0], x[1][0]), 1), None)]),
         'identity': lambda x: (np.eye(int(x[0][0][0].real))[None], None)}


def rotation(ev, loc, axis, angle):
    """Rodrigues, for a fixed axis"""
    a = ev.jet(axis, loc)[0]
    a = a/np.sqrt(np.sum(a*a, 1))[:, None]
    k = bhat(a)
    (x, dx) = ev.jet(angle, loc)
    part = lambda s, c: mul(s, k) + mul(c, mul(k, k))
    return np.eye(3)[None] + part(np.sin(x), 1 - np.cos(x)), None if dx is None else part(dx*np.cos(x), dx*np.sin(x))


def euler(ev, loc, phi, theta, psi):
    parts = [rotation(ev, loc, ('name', a), x) for a, x in (('e3', phi), ('e1', theta), ('e3', psi))]
    (a, da), (b, db), (c, dc) = parts
    v = mul(mul(a, b), c)
    terms = [mul(mul(*p), q) for p, q, d in (((da, b), c, da), ((a, db), c, db), ((a, b), dc, dc)) if d is not None]
    return v, sum(terms) if terms else None


def euler_angles(ev, loc, R):
    A = ev.jet(R, loc)[0]
    return np.stack([atan2(A[:, 0, 2], -A[:, 1, 2]), np.arccos(A[:, 2, 2]), atan2(A[:, 2, 0], A[:, 2, 1])], 1), None


REWRITE = {'rotation': rotation, 'euler': euler, 'euler_angles': euler_angles}
NODE = {'num': 'num', 'name': 'name', 'prime': 'prime', 'neg': 'neg', 'transpose': 'transpose', 'index': 'index',
        'vector': 'vector', 'sum': 'sum', 'if': 'if', 'call': 'call', '^': 'power', 'not': 'not',
        **{o: 'binary' for o in '+-*/'}, **{o: 'compare' for o in ('<', '<=', '>', '>=', '==', '!=', 'and', 'or')}}
FIXED = {'pi': np.array(np.pi), **{f'e{i+1}': np.eye(3)[i] for i in range(3)}}


# ---- the model ----------------------------------------------------------------------------------------------------------

class Model:
    def __init__(self, text, sets=None):
        self.sets = sets or {}
        self.params, self.coords, self.lets, self.observables, self.frames = {}, [], {}, {}, {}
        self.rows, self.prescribed, self.forces, self.starts, self.events, self.expects = [], [], [], [], {}, []
        self.domains, self.generators, self.references, self.lagrangian = [], {}, [], None
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
            velocity = p.name() if p.take('velocity') else n + "'"
            self.coords.append((n, space, dim, velocity))
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
        return ('-', a, p.sum())

    def read_constraint(self, p):
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

    def read_frame(self, p):
        self.pairs(p, self.frames)

    def read_observable(self, p):
        self.pairs(p, self.observables)

    def pairs(self, p, into):
        while True:
            n = p.name()
            p.need('=')
            into[n] = p.expr()
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
                return

    def read_event(self, p):
        n = p.name()
        p.need(':')
        x = self.equation(p)
        d = {'rising': 1, 'falling': -1, None: 0}[p.take('rising', 'falling')]
        self.events[n] = (x, d, bool(p.take('terminal')))

    def read_generator(self, p):
        n = p.name()
        p.need(':')
        parts = [self.target(p)]
        while p.take(','):
            parts.append(self.target(p))
        self.generators[n] = parts

    def read_start(self, p):
        new = [self.target(p)]
        while p.take(','):
            new.append(self.target(p))
        rng = None
        if p.take('for'):
            i = p.name()
            p.need('in')
            lo = p.sum()
            p.need('..')
            rng = (i, lo, p.sum())
        self.starts += [(*s, rng) for s in new]

    def read_reference(self, p):
        p.name()
        assert p.toks[p.i][0] == 'str'
        p.i += 1

    def read_expect(self, p):
        e = {'text': p.text, 'when': {}}
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
        env = {}
        for n, (x, whole) in self.params.items():
            v = self.sets.get(n, x)
            v = Parser(v).expr() if isinstance(v, str) else v
            env[n] = Eval(self, env).value(v) if isinstance(v, tuple) else np.full(1, float(v))
        self.penv, self.slots, iq, iv = env, [], 0, 0
        for n, space, dim, vel in self.coords:
            k = int(Eval(self, env).value(dim)[0].real) if space == 'R^n' else 3 if space in ('S2', 'SO3') else 1
            if space == 'S2':
                self.rows.append(('position', ('-', ('call', 'dot', ('name', n), ('name', n)), ('num', 1.0)), None))
            nq = 9 if space == 'SO3' else k
            self.slots.append((n, space, k, vel, slice(iq, iq + nq), slice(iv, iv + k)))
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
        """accelerations by the saddle system; everything is evaluated in two batches, moved points carry imaginary steps"""
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
        if self.forces:
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
        """velocities back onto the constraints, the nearest in the norm of the mass matrix; holonomic rows by Newton steps"""
        q, xi = y[:self.nq].copy(), y[self.nq:]
        for n, space, d, vel, sq, sv in self.slots:
            if space == 'SO3':
                u, _, v = np.linalg.svd(q[sq].reshape(3, 3))
                q[sq] = (u @ v).ravel()
        self.solve(t, q, xi)
        S, s, n = self.last['S'], self.last['s'], self.n
        if len(S) == 0:
            return y
        return np.concatenate([q, xi + np.linalg.solve(self.last['K'], np.concatenate([np.zeros(n), -(S @ xi + s)]))[:n]])

    def force(self, T, q, xi):
        out = np.zeros(self.n)
        for name, ix, x in self.forces:
            sv = next(s[5] for s in self.slots if s[3] == name)
            v = self.eval(T, q[None], xi[None]).value(x).real[0]
            if ix is None:
                out[sv] += v
            else:
                out[sv.start + int(Eval(self, self.penv).value(ix)[0].real) - 1] += v
        return out

    def builtin(self, name, ev):
        t, q, xi = self.here
        self.solve(t, q, xi)
        L = self.last
        if name == 'energy':
            return np.full(1, L['p'] @ xi - L['l'])
        kind, n = name.split('.')
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
        """the start state; complains where the velocities are not determined by what is named"""
        q, rows, rhs = np.zeros(self.nq), [], []
        for n, space, k, vel, sq, sv in self.slots:
            q[sq] = np.eye(3).ravel() if space == 'SO3' else [0, 0, 1] if space == 'S2' else 0
        velocities = []
        for kind, x, who in self.rows:
            if who:
                sq = next(s[4] for s in self.slots if s[0] == who)
                q[sq] = -self.observe(x, 0.0, np.concatenate([0*q, np.zeros(self.n)]))
        for n, ix, x, rng in self.starts:
            i, lo, hi = rng or (None, ('num', 1.0), ('num', 1.0))
            for k in range(int(Eval(self, self.penv).value(lo)[0].real), int(Eval(self, self.penv).value(hi)[0].real) + 1):
                loc = {i: (np.full(1, float(k)), None)}
                ev = self.eval(np.zeros(1), q[None], np.zeros((1, self.n)))
                v = np.ravel(np.real(ev.jet(x, loc)[0][0]))
                at = None if ix is None else int(ev.jet(ix, loc)[0][0].real) - 1
                hit = [s for s in self.slots if s[0] == n]
                if hit:
                    sq = hit[0][4]
                    q[sq if at is None else sq.start + at] = v if at is None or len(v) > 1 else v[0]
                else:
                    velocities.append((n, at, v))
        T, probe = np.zeros(1), np.concatenate([np.eye(self.n), np.zeros((1, self.n))])
        for n, at, v in velocities:
            if n in self.frames:
                r = self.eval(T, q[None], probe).value(self.frames[n]).real
                rows.append(r[:-1] - r[-1])
                rhs.append(v[0] - r[-1])
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
                    self.hits[name].append(refine(flow, g, cuts[k], cuts[k + 1], v[k], v[k + 1]))

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


def refine(flow, g, a, b, va, vb):
    """the crossing between the fractions a and b of the last step, by the Illinois rule on real steps"""
    h, side = flow.t - flow.t_old, 0
    for _ in range(60):
        c = (a*vb - b*va)/(vb - va)
        if not a < c < b:
            break
        vc = g(flow.t_old + c*h, flow.attempt(c*h, flow.t_old, flow.y_old)[0])
        if abs(vc) < 1e-15:
            return flow.t_old + c*h
        if va*vc < 0:
            b, vb, va, side = c, vc, va/2 if side < 0 else va, -1
        else:
            a, va, vb, side = c, vc, vb/2 if side > 0 else vb, 1
    return flow.t_old + c*h


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
