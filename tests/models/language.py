#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The expressions of the model language (docs/language.md), read and evaluated apart from the program: see reader.py.

Every value carries a leading batch axis, so that all evaluations of one right-hand side are done at once. A jet is a
value with its rate along the motion, or with None where it does not move."""
import re
import numpy as np

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
        while self.peek('.') and self.toks[self.i + 1][0] == 'name':  # ball.Omega
            v += '.' + self.toks[self.i + 1][1]
            self.i += 2
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


# ---- values with a batch axis, and jets ---------------------------------------------------------------------------

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
    rows = [z, -w[:, 2], w[:, 1]], [w[:, 2], z, -w[:, 0]], [-w[:, 1], w[:, 0], z]
    return np.stack([np.stack(r, 1) for r in rows], 1)


def plus(a, b):
    """the sum of two rates, either of which may be None"""
    return b if a is None else a if b is None else a + b


def times(a, f):
    return None if a is None else f(a)


UNARY = {  # value, derivative
    'sin': (np.sin, np.cos), 'cos': (np.cos, lambda x: -np.sin(x)), 'tan': (np.tan, lambda x: 1/np.cos(x)**2),
    'asin': (np.arcsin, lambda x: 1/np.sqrt(1 - x*x)), 'acos': (np.arccos, lambda x: -1/np.sqrt(1 - x*x)),
    'atan': (np.arctan, lambda x: 1/(1 + x*x)), 'sinh': (np.sinh, np.cosh), 'cosh': (np.cosh, np.sinh),
    'tanh': (np.tanh, lambda x: 1 - np.tanh(x)**2), 'exp': (np.exp, np.exp), 'log': (np.log, lambda x: 1/x),
    'sqrt': (np.sqrt, lambda x: 0.5/np.sqrt(x)),
    'abs': (lambda x: np.where(x.real < 0, -x, x), lambda x: np.sign(x.real)),
    'sign': (lambda x: np.sign(x.real), lambda x: 0*x),
    'unvaried': (lambda x: x.real + 0*x.real, lambda x: 0*x)}


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
            return a + s*b, plus(da, times(db, lambda d: s*d))
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
        who = node[1]
        if who[0] == 'prime' and who[1][0] == 'name' and who[1][1] in self.m.families:  # x'[i] of a family
            return self.jet(('prime', ('index', who[1], node[2])), loc)
        if who[0] == 'name' and who[1] in self.m.families:
            member = f'{who[1]}[{self.integer(node[2], loc)}]'
            return self.env[member], self.rates.get(member)
        a, d = self.jet(who, loc)
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
        if da is None and db is None:
            return pick(a, b), None
        return pick(a, b), pick(0*a if da is None else da, 0*b if db is None else db)

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
                if d is not None or db is not None:
                    d = np.where(c, 0*v if d is None else d, 0*b if db is None else db)
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
    return v, times(plus(times(da, lambda d: d*b), times(db, lambda d: a*d)), lambda d: np.sum(d, 1))


def bcross(x):
    (a, da), (b, db) = x
    c = lambda u, w: mul(bhat(u), w)
    return c(a, b), plus(times(da, lambda d: c(d, b)), times(db, lambda d: c(a, d)))


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


def rotation(ev, loc, axis, angle=None):
    """Rodrigues, for a fixed axis; a matrix alone is used unchanged"""
    if angle is None:
        return ev.jet(axis, loc)
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
FIXED = {'pi': np.array(np.pi), 'deg': np.array(np.pi/180), **{f'e{i+1}': np.eye(3)[i] for i in range(3)}}
