#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One path of a model with noise: `anagyre run --seed`. The program is the first argument."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from part import numbers, part  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))

ITO = ('euler_maruyama', 'implicit_euler_maruyama')
# The plane oscillator turned by its noise: x(t) = rotation by s W(t) of the motion without noise. w is W itself.
OSCILLATOR = """model oscillator
param s = 0.8
config x in R^2, w in R
lagrangian 1/2*dot(x', x') + 1/2*w'^2 - 1/2*dot(x, x)
noise W transport x' = s*[-x[2], x[1]], w' = 1
event half: x[1] = 0.5
start x = [1, 0], x' = [0, 0.5]
"""
# q = exp(a W) exactly: the momentum stays 0.
SCALAR = """model scalar
param a = 0.7
config q in R, w in R
lagrangian 1/2*q'^2 + 1/2*w'^2
noise W transport q' = a*q, w' = 1
start q = 1
"""
BALL = """model ball
param m = 1, r = 1, l = 0.2, g = 1
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let s = r*Gamma + l*e3
let I = diag(0.35, 0.35, 0.4)
lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*x[3]
constraint x' = R*cross(Omega, s)
relation x[3] = r + l*Gamma[3]
noise W transport Omega = 0.3*e3
noise V transport Omega = [0.2, -0.1, 0]
observable height = x[3] - r - l*Gamma[3], length = norm(Gamma) - 1
start R = rotation(e2, 0.6), Omega = [0.5, -0.4, 1.2], x[1] = 0, x[2] = 0
"""
SLEIGH = """model sleigh
config x in R, y in R, phi in S1
lagrangian 1/2*((x' - 0.3*sin(phi)*phi')^2 + (y' + 0.3*cos(phi)*phi')^2 + phi'^2)
constraint x'*sin(phi) = y'*cos(phi)
noise W transport phi' = 0.3
noise V force x' = 0.2
event north: sin(phi) = 0.9
observable push = reaction.x
start phi' = 1, x' = 1
"""
BATH = """model bath
param w2 = 1.6, kT = 0.8
config q in R
lagrangian 1/2*q'^2 - w2/2*q^2
friction q' = 0.6
temperature kT
observable K = q'^2/kT, U = w2*q^2/kT
start q = 0.5
"""
# the mass depends on the angles, the friction is degenerate
PAIR = """model pair
config a in S1, b in S1
lagrangian 1/2*a'^2 + 1/2*b'^2 + 1/2*a'*b'*cos(a - b) + cos(a) + cos(b)
friction a' - b' = 0.7
temperature 0.5
start a = 0.5
"""
PENDULUM = """model pendulum
config x in R^2
lagrangian 1/2*dot(x', x') - x[2]
holonomic dot(x, x) = 1
noise W force x' = [0.3, 0.1*x[1]]
start x = [0, -1], x'[1] = 0.5
"""
# each member of a family its own process; {0} to {3}: their names
FAMILY = """model family
config x in R [2], y in R
process {2} drift {3}, {3} drift -{2} - {3}
lagrangian x[1]'^2/2 + x[2]'^2/2 + y'^2/2 - x[1]^2/2 - x[2]*y
noise {0} force x[1]' = 0.3, y' = x[1]
noise {1} force x[2]' = 0.6, y' = x[2]
noise {1} process {3} = y + {2}
noise {0} process {2} = 1
force y' = {2}*{3}
noise {0} transport y' = 0.1*x[2]
start x[1] = 1, {2} = 0.3, {3} = -0.2
"""


class Lab(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.n = 0

    def model(self, text):
        self.n += 1
        path = os.path.join(self.folder.name, f'm{self.n}.nh')
        with open(path, 'w') as f:
            f.write(text)
        return path

    def call(self, verb, *args):
        return subprocess.run([PROGRAM, verb, *[str(a) for a in args]], capture_output=True, text=True,
                              cwd=self.folder.name)

    def run_program(self, *args):
        return self.call('run', *args)

    def end(self, *args):
        p = self.run_program(*args, '--json', '--quiet')
        self.assertEqual(p.returncode, 0, p.stderr)
        return json.loads(p.stdout)

    def table(self, name):
        with open(os.path.join(self.folder.name, name), newline='') as f:
            return list(csv.reader(line for line in f if not line.startswith('#')))

    def refused(self, text, *args):
        p = self.run_program(*args)
        self.assertEqual(p.returncode, 2, p.stderr)
        self.assertIn(text, p.stderr)


class Noise(Lab):
    def test_families(self):
        """W[1], W[2] are processes like any two others, and so are N[1], N[2]."""
        family = FAMILY.format('W[1]', 'W[2]', 'N[1]', 'N[2]')
        loop = family.replace("noise W[1] force x[1]' = 0.3, y' = x[1]\n", '').replace(
            "noise W[2] force x[2]' = 0.6, y' = x[2]", "noise W[i] force x[i]' = 0.3*i, y' = x[i] for i in 1..2").replace(
                "process N[1] drift N[2], N[2] drift -N[1] - N[2]",
                "process N[i] drift (if i > 1 then -N[1] else 0) + (3 - 2*i)*N[2] for i in 1..2")
        models = [self.model(text) for text in (FAMILY.format('A', 'B', 'M', 'N'), family, loop)]
        for words, drivers in ((['--seed', 3, '--dt', 0.125, '--t1', 2], None), (['--t1', 2], ('A', 'B'))):
            ends = []
            for i, m in enumerate(models):
                names = drivers if i == 0 else ('W[1]', 'W[2]')
                more = ['--driver', f'{names[0]}=sin(t);{names[1]}=t'] if drivers else []
                ends.append(list(self.end(m, *words, *more)['state'].values()))
            self.assertEqual(ends[0], ends[1])
            self.assertEqual(ends[0], ends[2])
        p = self.call('show', models[2])
        self.assertIn("noise W[2] force x[2]' = 0.6, y' = x[2]\n", p.stdout)

    def test_refusals(self):
        m, s = self.model(OSCILLATOR), self.model(SLEIGH)
        plain = self.model("model p\nconfig x in R\nlagrangian 1/2*x'^2\n")
        self.refused('the model has noise (W): --seed S follows one path of it, --noise off runs it without', m)
        self.refused('the model has no noise', plain, '--seed', 1, '--dt', 0.5)
        self.refused('--seed needs fixed steps: give --dt', m, '--seed', 1)
        self.refused('the nearest that do are 0.29411764705882354 and 0.30303030303030304', m, '--seed', 1, '--dt', 0.3)
        self.refused('the nearest are 0.2 and 0.4', m, '--seed', 1, '--dt', 0.25, '--dt-base', 0.1)
        self.refused('no step on a grid of 0.75 (--dt-base) divides the time', m, '--seed', 1, '--dt', 0.5, '--dt-base', 0.75)
        self.refused('method euler does not fit: the noise is commutative, and it would not converge to the motion '
                     '(Stratonovich); euler_heun, rk3, rk4, midpoint, ... do', m, '--seed', 1, '--dt', 0.5, '--method', 'euler')
        self.refused('method discrete_gradient does not fit: it has no form for paths with noise', m, '--seed', 1, '--dt', 0.5,
                     '--method', 'discrete_gradient')
        self.refused('--path needs --seed', m, '--path', 1)
        self.refused('give one of them', m, '--seed', 1, '--noise', 'off', '--dt', 0.5)
        self.refused('runs forward', m, '--seed', 1, '--dt', 0.5, '--t1', -1)
        self.refused('give a multiple of 0.5', m, '--seed', 1, '--dt', 0.5, '--every', 0.75, '-o', 'x.csv')
        force = self.model(SLEIGH + 'event pull: reaction.x[1] = 1\n'.replace('[1]', ''))
        self.refused('the event `pull` reads a force of constraint', force, '--seed', 1, '--dt', 0.5)
        self.assertIn('white part', self.run_program(s, '--seed', 1, '--dt', 0.125).stderr)

    def test_converge(self):
        """Strong and weak orders; what does not fit is refused by name; the same numbers again."""
        m = self.model(OSCILLATOR)
        words = ['converge', m, '--t1', 1, '--method', 'euler_heun', '--paths', 256, '--seed', 3, '-o', 'orders.csv', '--json']
        p = self.call(*words)
        self.assertEqual(p.returncode, 0, p.stderr)
        r = json.loads(p.stdout)
        row = r['methods'][0]
        self.assertEqual((r['noise'], r['paths'], r['seed'], row['method']), ('commutative', 256, 3, 'euler_heun'))
        self.assertEqual((row['strong']['declared'], row['strong']['agrees'], row['failed']), (1, 'yes', 0))
        self.assertLess(row['strong']['confidence'], 0.2)
        self.assertEqual([x['steps'] for x in row['points']], [8, 16, 32, 64, 128, 256])
        with open(os.path.join(self.folder.name, 'orders.csv'), encoding='utf-8') as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], 'method,strong_order,weak_order,dt,steps,seconds,strong,strong_stderr,weak,weak_stderr')
        self.assertEqual(len(lines), 7)
        again = json.loads(self.call(*words).stdout)['methods'][0]['points']
        self.assertEqual([(x['strong'], x['weak']) for x in again], [(x['strong'], x['weak']) for x in row['points']])
        for why, more in (('method euler does not fit', ['--method', 'euler']), ('multiple of 32', ['--paths', 100]),
                          ("no number 'y'", ['--columns', 'y']), ('noise has a direction', ['--t1', -1])):
            p = self.call('converge', m, *more)
            self.assertEqual((p.returncode, why in p.stderr), (2, True), p.stderr)
        plain = self.model("model p\nconfig x in R\nlagrangian 1/2*x'^2\n")
        p = self.call('converge', plain, '--seed', 1)
        self.assertEqual((p.returncode, '--seed is for models with noise' in p.stderr), (2, True), p.stderr)

    def test_expect(self):
        """Means over paths and what is conserved on each of them; what does not fit is refused by name."""
        text = """model p
param c = 1
config x in R
lagrangian 1/2*x'^2
force x' = -c*x'
noise W force x' = 0.6
observable v = x'
start x' = 1
"""
        def test(*lines):
            return self.call('test', self.model(text + '\n'.join(lines) + '\n'), '--json')
        p = test("expect mean(v) at 1 = exp(-c) within 4 sigma paths 4000 dt 0.05",
                 "expect mean(v) at 1 = exp(-c) + 0.1 within 4 sigma paths 4000 dt 0.05",
                 "expect var(v) at 1 = 0.18*(1 - exp(-2)) within 4 sigma paths 4000 dt 0.05 method rk4 seed 7",
                 "expect not conserved v pathwise", "expect conserved v pathwise")
        self.assertEqual(p.returncode, 1, p.stderr)
        found = json.loads(p.stdout)['models'][0]['expectations']
        self.assertEqual([x['holds'] for x in found], [True, False, True, True, False])
        # the same paths as those of `ensemble`
        m = self.model(text)
        e = json.loads(self.call('ensemble', m, '--paths', 4000, '--dt', 0.05, '--t1', 1, '--json').stdout)
        mean, error = (e['observables']['v'][key][-1] for key in ('mean', 'stderr'))
        self.assertAlmostEqual(found[0]['got'], mean, delta=1e-13)
        self.assertAlmostEqual(found[0]['tolerance'], 4*error, delta=1e-13)
        for why, line in (("the nearest that do are", "expect mean(v) at 1 = 0 within 4 sigma paths 100 dt 0.3"),
                          ("there is no such method", "expect mean(v) at 1 = 0 within 4 sigma paths 100 dt 0.1 method rk44"),
                          ("method spark2 does not fit", "expect mean(v) at 1 = 0 within 4 sigma paths 9 dt 0.1 method spark2"),
                          ("noise has a direction", "expect mean(v) at -1 = 0 within 4 sigma paths 100 dt 0.1")):
            p = test(line)
            self.assertEqual((p.returncode, why in p.stderr), (2, True), p.stderr)
        plain = "model p\nconfig x in R\nlagrangian 1/2*x'^2\n"
        for why, line in (("needs a model with noise", "expect mean(x) at 1 = 0 within 4 sigma paths 100 dt 0.1"),
                          ("`pathwise` is for models with noise", "expect conserved energy pathwise")):
            p = self.call('test', self.model(plain + line + '\n'))
            self.assertEqual((p.returncode, why in p.stderr), (2, True), p.stderr)

    def test_gibbs(self):
        """Which law friction at a temperature keeps: check and conserve say the same."""
        sleigh = SLEIGH[:SLEIGH.index('noise')] + 'friction phi\' = 1\nfriction x\'*cos(phi) + y\'*sin(phi) = 1\ntemperature 1\n'
        for text, keeps, positions in ((BATH, 'volume', 'uniform'), (PAIR, 'volume', 'weighted'), (sleigh, 'neither', None),
                                       (BATH + "force q' = -q'\n", 'undecided', None)):
            m = self.model(text)
            found = [json.loads(self.call(verb, m, *more, '--json').stdout)['gibbs']
                     for verb, more in (('check', []), ('conserve', ['--no-search']))]
            self.assertEqual(found[0], found[1])
            self.assertEqual((found[0]['keeps'], found[0].get('positions')), (keeps, positions), text)
        self.assertIn("exp(-E/kT) dq dq' is stationary", self.call('check', self.model(BATH)).stdout)
        self.assertIn('no         Gibbs law', self.call('conserve', self.model(sleigh), '--no-search').stdout)
        self.assertNotIn('gibbs', json.loads(self.call('check', self.model(OSCILLATOR), '--json').stdout))

    def test_every_verb_says_why(self):
        m, why = self.model(OSCILLATOR), 'the model has noise (W)'
        for verb in ('run', 'plot', 'view'):
            for more in ([], ['--quiet'], ['--json', '--quiet']):
                p = self.call(verb, m, *more)
                self.assertEqual(p.returncode, 2, (verb, more))
                self.assertIn(why, p.stderr, (verb, more))
                if '--json' in more:
                    self.assertIn(why, json.loads(p.stdout)['error'], verb)
                else:
                    self.assertEqual(p.stdout, '', verb)

    def test_drawn_paths(self):
        m = self.model(OSCILLATOR)
        for words, why in ((['--seed', 1], '--seed needs fixed steps'), (['--path', 1], '--path needs --seed'),
                           (['--seed', 1, '--dt', 0.5, '--noise', 'off'], 'give one of them'),
                           (['--seed', 1, '--dt', 0.3], 'the nearest that do are'),
                           (['--noise', 'off', '--method', 'rk3'], 'no error estimate')):
            for verb in ('plot', 'view'):
                p = self.call(verb, m, *words)
                self.assertEqual(p.returncode, 2, (verb, words))
                self.assertIn(why, p.stderr, (verb, words))
        self.call('run', m, '--seed', 3, '--dt', 0.125, '--t1', 1, '-o', 'one.h5')
        for words, why in (([m, '--paths', 3, '--dt', 0.125], '--paths needs --seed'),
                           ([m, '--paths', 17, '--seed', 3, '--dt', 0.125], '--paths'),
                           ([m, m, '--paths', 3, '--seed', 3, '--dt', 0.125], '--paths follows one model'),
                           (['one.h5', '--paths', 3, '--seed', 3, '--dt', 0.125], '--paths follows one model')):
            p = self.call('view', *words, '-o', 'cloud.html')
            self.assertEqual(p.returncode, 2, words)
            self.assertIn(why, p.stderr, words)
        cloud = ['--seed', 3, '--path', 4, '--dt', 0.125, '--t1', 1, '-o', 'cloud.html']
        self.assertEqual(self.call('view', m, '--paths', 3, *cloud).returncode, 0)
        with open(os.path.join(self.folder.name, 'cloud.html')) as f:
            page = f.read()
        for k in range(3, 8):
            self.assertEqual(f'path {k} of seed 3' in page, 4 <= k <= 6, k)
        p = self.call('plot', m, 'x', '--seed', 3, '--path', 5, '--dt', 0.125, '--t1', 2, '-o', 'p.svg', '--script')
        self.assertEqual(p.returncode, 0, p.stderr)
        self.end(m, '--seed', 3, '--path', 5, '--dt', 0.125, '--t1', 2, '-o', 'p.csv')
        with open(os.path.join(self.folder.name, 'p.dat')) as f:
            drawn = [line.split() for line in f.read().split('\n\n')[0].strip().split('\n')]
        rows = self.table('p.csv')
        k = rows[0].index('x[1]')
        self.assertEqual(len(drawn), len(rows) - 1)
        for point, row in zip(drawn, rows[1:]):  # ten digits are drawn
            self.assertAlmostEqual(float(point[0]), float(row[0]), delta=1e-9)
            self.assertAlmostEqual(float(point[1]), float(row[k]), delta=1e-9)

    def test_noise_off(self):
        m = self.model(OSCILLATOR)
        x = self.end(m, '--noise', 'off', '--t1', 2)['state']['x']
        self.assertAlmostEqual(x[0], math.cos(2), delta=1e-9)
        self.assertAlmostEqual(x[1], 0.5*math.sin(2), delta=1e-9)

    def strong(self, text, error, steps, **more):
        """root mean square of the error at t = 2 over paths, per step; the slope"""
        m, sizes = self.model(text), []
        for dt in steps:
            total = 0.0
            for path in range(40):
                args = [m, '--seed', 5, '--path', path, '--dt', dt, '--dt-base', steps[0], '--t1', 2]
                total += error(self.end(*args, *[x for k, v in more.items() for x in ('--' + k, v)])['state'])**2
            sizes.append(math.sqrt(total/40))
        return sizes, math.log(sizes[0]/sizes[-1])/math.log(steps[0]/steps[-1])

    @numbers
    def test_strong_order(self):
        """commutative noise: order 1, on the same paths for all steps. 40 paths: the slope is known to about 0.05."""
        def turned(state):
            a, b, s = math.cos(2), 0.5*math.sin(2), 0.8*state['w']
            x, y = a*math.cos(s) - b*math.sin(s), a*math.sin(s) + b*math.cos(s)
            return math.hypot(state['x'][0] - x, state['x'][1] - y)

        def grown(state):
            return state['q']*math.exp(-0.7*state['w']) - 1
        for method in ('euler_heun', 'midpoint'):
            sizes, slope = self.strong(OSCILLATOR, turned, [0.03125, 0.001953125], method=method)
            self.assertLess(abs(slope - 1), 0.1, (method, sizes))
        _, slope = self.strong(SCALAR, grown, [0.03125, 0.001953125])
        self.assertLess(abs(slope - 1), 0.1)

    def test_areas(self):
        """what depends on the increments and the Levy area of the path alone has no other error in the log-ODE: the
        area between two Wiener processes is the same for all steps"""
        m = self.model("model area\nconfig x in R^3\nlagrangian 1/2*dot(x', x')\n"
                       "noise W transport x' = [1, 0, -x[2]/2]\nnoise V transport x' = [0, 1, x[1]/2]\n")
        args = [m, '--seed', 7, '--t1', 2, '--dt-base', 0.0625]
        for method in ('log_heun', 'log_rk4', 'log_midpoint'):
            x = [self.end(*args, '--dt', dt, '--method', method)['state']['x'] for dt in (0.5, 0.0625, 0.015625)]
            for i in range(3):
                self.assertAlmostEqual(x[1][i], x[0][i], delta=1e-13)
                self.assertAlmostEqual(x[2][i], x[0][i], delta=1e-13)
        frozen = self.end(*args, '--dt', 0.5, '--method', 'rk4')['state']['x']
        self.assertGreater(abs(frozen[2] - x[0][2]), 0.01)
        self.refused('method log_rk4 needs a path with noise', m, '--noise', 'off', '--dt', 0.5, '--method', 'log_rk4')

    def test_bath(self):
        """friction and temperature: splittings, interpreted and compiled; the temperature of an ensemble"""
        m = self.model(BATH)
        for method in ('baoab', 'obabo', 'ovo_midpoint'):
            args = [m, '--seed', 2, '--dt', 0.125, '--t1', 2, '--method', method]
            a, b = (self.end(*args, '--engine', e) for e in ('interpreted', 'compiled'))
            self.assertEqual(a['state'], b['state'], method)
        # stationary figures of the oscillator, h^2 w^2/4 = 0.1
        wanted = {'baoab': (0.9, 1), 'obabo': (1, 1/0.9), 'ovo_midpoint': (1, 1)}
        for method, means in wanted.items():
            p = subprocess.run([PROGRAM, 'ensemble', m, '--paths', '4000', '--seed', '5', '--dt', '0.5', '--t1', '20',
                                '--every', '20', '--method', method, '--columns', 'K,U', '--json', '--quiet'],
                               capture_output=True, text=True, cwd=self.folder.name)
            self.assertEqual(p.returncode, 0, p.stderr)
            for name, value in zip('KU', means):
                o = json.loads(p.stdout)['observables'][name]
                self.assertLess(abs(o['mean'][-1] - value), 4*o['stderr'][-1], (method, name))
        pair = self.model(PAIR)
        self.refused('method baoab needs a constant mass matrix', pair, '--seed', 1, '--dt', 0.5, '--method', 'baoab')
        self.refused('method ovo_midpoint needs a path whose noise comes from friction', self.model(OSCILLATOR),
                     '--seed', 1, '--dt', 0.5, '--method', 'ovo_midpoint')
        args = [pair, '--seed', 2, '--dt', 0.125, '--t1', 2, '--method', 'ovo_midpoint']
        a, b = (self.end(*args, '--engine', e) for e in ('interpreted', 'compiled'))
        self.assertEqual(a['state'], b['state'])

    def test_same_path(self):
        """dt is refined on the same path: w, which the steps sum up exactly, stays; another seed or path changes it"""
        m = self.model(OSCILLATOR)
        args = [m, '--t1', 2, '--dt-base', 0.125]
        w = [self.end(*args, '--dt', dt, '--seed', 7)['state']['w'] for dt in (0.25, 0.125, 0.03125)]
        for x in w:
            self.assertAlmostEqual(x, w[0], delta=1e-14)
        other = [self.end(*args, '--dt', 0.125, '--seed', 8)['state']['w'],
                 self.end(*args, '--dt', 0.125, '--seed', 7, '--path', 1)['state']['w']]
        self.assertEqual(len({w[0], *other}), 3)

    def test_engines_and_closures(self):
        methods = ('euler_heun', 'rk4', 'midpoint', 'trapezoid', 'log_rk4', 'log_midpoint', *ITO, 'ninomiya_victoir')
        for k, text in enumerate((OSCILLATOR, BALL, SLEIGH, PENDULUM)):
            m = self.model(text)
            for method in part(methods[k:] + methods[:k]):
                args = [m, '--seed', 2, '--dt', 0.015625, '--t1', 1, '--method', method]
                a, b = (self.end(*args, '--engine', e) for e in ('interpreted', 'compiled'))
                self.assertEqual(a['state'], b['state'], (text, method))
                self.assertEqual(a['right_hand_sides'], b['right_hand_sides'], (text, method))
                self.assertEqual((a['engine'], b['engine']), ('interpreted', 'compiled'))
            # the same method on another form of the equations: the difference is of the size of its error
            a, b = (self.end(m, '--seed', 2, '--dt', 2**-11, '--t1', 1, '--method', 'rk4', '--closure', c)
                    for c in ('eliminated', 'multipliers'))
            for k, x in a['state'].items():
                for u, v in zip(flat(x), flat(b['state'][k])):
                    self.assertAlmostEqual(u, v, delta=2e-4)

    def test_ito(self):
        """Ito's form has the paths of Stratonovich's equation"""
        for text in (OSCILLATOR, SCALAR, BALL, SLEIGH, PENDULUM):
            m, off = self.model(text), 0
            args = [m, '--seed', 2, '--dt', 2**-12, '--t1', 1, '--method']
            right = self.end(*args, 'rk4')['state']
            for method in (*ITO, 'ninomiya_victoir'):
                for k, x in self.end(*args, method)['state'].items():
                    off = max([off, *(abs(u - v) for u, v in zip(flat(x), flat(right[k])))])
            # amplitudes of 0.3 to 0.8: an error of sqrt(h)/2; the drift's part alone is 0.05 to 0.3
            self.assertLess(off, 0.01, text)
        self.refused('method euler_maruyama needs a path with noise', m, '--noise', 'off', '--dt', 0.5, '--method',
                     'euler_maruyama')
        self.refused('method ninomiya_victoir needs a path with noise', m, '--seed', 1, '--dt', 0.5, '--closure',
                     'multipliers', '--method', 'ninomiya_victoir')
        links, n = '', 60
        for i in range(n):
            links += f'config x{i} in R^2\nholonomic dot(x{i}{f" - x{i - 1}" * (i > 0)}, x{i}{f" - x{i - 1}" * (i > 0)}) = 1\n'
        large = self.model('model large\n' + links + 'lagrangian ' + ' + '.join(f"dot(x{i}', x{i}')" for i in range(n)) +
                           "\nnoise W force x3' = [0.3, x3[1]]\nstart " +
                           ', '.join(f'x{i} = [{i + 1}, 0]' for i in range(n)) + '\n')
        why = 'needs derivatives of the noise fields, which large systems with noise do not offer'
        for method in ('log_heun', *ITO):
            self.refused(f'method {method} {why}', large, '--seed', 1, '--dt', 0.5, '--method', method)
        self.assertIn(why, self.call('ensemble', large, '--dt', 0.5, '--method', 'euler_maruyama').stderr)
        self.end(large, '--seed', 1, '--dt', 2**-7, '--t1', 2**-6, '--method', 'ninomiya_victoir')

    def test_coins(self):
        """a path with its coins is one and the same alone and in an ensemble"""
        m = self.model(BALL)
        args = ['--seed', 5, '--dt', 0.25, '--t1', 1, '--method', 'ninomiya_victoir']
        for path in (0, 1, 6):
            one = self.end(m, *args, '--path', path)['state']['x']
            p = self.call('ensemble', m, *args, '--path', path, '--columns', 'x', '--json')
            all_rows = json.loads(p.stdout)['observables']
            self.assertEqual(one, [all_rows[f'x[{i}]'][-1] for i in (1, 2, 3)])

    def test_relations(self):
        """after every step R agrees with its image, and the ball touches the plane"""
        m = self.model(BALL)
        for method in ('euler_heun', 'midpoint', 'euler_maruyama', 'ninomiya_victoir'):
            self.end(m, '--seed', 3, '--dt', 0.02, '--t1', 10, '--method', method, '-o', 'ball.csv')
            head, *rows = self.table('ball.csv')
            self.assertEqual(len(rows), 501)
            for name in ('height', 'length', 'constraint_residual'):
                self.assertLess(max(abs(float(r[head.index(name)])) for r in rows), 1e-12, name)
            for r in rows:  # |Gamma| comes from R; its third row is what the steps moved
                self.assertLess(abs(sum(float(r[i])**2 for i in range(7, 10)) - 1), 1e-12)

    def test_continued(self):
        for text in (BALL, SLEIGH):
            m = self.model(text)
            args = ['--seed', 4, '--path', 3, '--dt', 0.0625]
            whole = self.end(m, *args, '--t1', 8, '-o', 'whole.h5')
            self.end(m, *args, '--t1', 4.5, '-o', 'part.h5')
            rest = self.end('--from', 'part.h5', '--t1', 8)
            for k in ('t', 'state', 'steps', 'events', 'noise', 'energy'):
                self.assertEqual(whole[k], rest[k], k)
            info = subprocess.run([PROGRAM, 'info', 'part.h5', '--json'], capture_output=True, text=True,
                                  cwd=self.folder.name).stdout
            self.assertIn('"path"', info)

    def test_records(self):
        m = self.model(SLEIGH)
        d = self.end(m, '--seed', 9, '--path', 2, '--dt', 0.375, '--t1', 3)
        self.assertEqual((d['noise']['seed'], d['noise']['path'], d['noise']['dt_base']), (9, 2, 0.125))
        self.assertEqual(d['noise']['class'], 'general')
        self.assertEqual(d['energy_law'], 'noise')
        self.assertEqual((d['steps'], d['t']), (8, 3))

    def test_emitted(self):
        """the increment is linear in [h | dW], and its part h is the right-hand side"""
        m = self.model(BALL)
        code = subprocess.run([PROGRAM, 'emit', m], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(self.folder.name, 'ball.c'), 'w') as f:
            f.write(code + """
#include <stdio.h>
int main(void) {
  double a[BALL_N_STATE], b[BALL_N_STATE], d[BALL_N_STATE], w[3] = {1, 0, 0}, v[3] = {0, 0.5, -2}, u[3] = {2, 0.5, -2};
  double c[1] = {0}, off = 0;
  ball_rhs(0, ball_start, c, ball_params, a);
  ball_increment(0, ball_start, c, w, ball_params, b);
  for (int i = 0; i < BALL_N_STATE; i++) off += (a[i] - b[i])*(a[i] - b[i]);
  ball_increment(0, ball_start, c, v, ball_params, b);
  ball_increment(0, ball_start, c, u, ball_params, d);
  for (int i = 0; i < BALL_N_STATE; i++) off += (d[i] - b[i] - 2*a[i])*(d[i] - b[i] - 2*a[i]);
  printf("%g\\n", off);
  return 0;
}
""")
        cc = os.environ.get('CC', 'cc')
        subprocess.run([cc, 'ball.c', '-lm', '-o', 'ball'], check=True, cwd=self.folder.name)
        out = subprocess.run(['./ball'], capture_output=True, text=True, check=True, cwd=self.folder.name).stdout
        self.assertLess(float(out), 1e-28)
        self.assertEqual(subprocess.run([PROGRAM, 'emit', m, '--main'], capture_output=True).returncode, 2)

    def test_events(self):
        """on the grid, and the same sign changes as in the rows"""
        m = self.model(OSCILLATOR)
        d = self.end(m, '--seed', 6, '--dt', 0.0625, '--t1', 8, '-o', 'o.csv')
        head, *rows = self.table('o.csv')
        at = head.index('x[1]')
        signs = [(float(r[0]), float(r[at]) > 0.5) for r in rows]
        self.assertEqual(d['events']['half'], [b[0] for a, b in zip(signs, signs[1:]) if a[1] != b[1]])


class Bath(Lab):
    """friction and temperature stand for a force and its noise"""
    HEAD = "model slip\nparam c = 0.3, kT = 0.2\nconfig x in R, w in S1, y in R^2\n" \
           "lagrangian 1/2*x'^2 + 1/4*w'^2 + 1/2*dot(y', y') - 1/2*x^2 - 1/2*dot(y, y)\n"

    def test_written_out(self):
        a = self.model(self.HEAD + "friction x' - 2*w' = c\nfriction y' = c*(1 + y[1]^2)\ntemperature kT\n")
        b = self.model(self.HEAD + "force x' = -c*(x' - 2*w'), w' = 2*c*(x' - 2*w'), y' = -c*(1 + y[1]^2)*y'\n"
                       "noise A force x' = sqrt(2*c*kT), w' = -2*sqrt(2*c*kT)\n"
                       "noise B force y'[1] = sqrt(2*c*kT*(1 + y[1]^2))\n"
                       "noise C force y'[2] = sqrt(2*c*kT*(1 + y[1]^2))\n")
        x, y = (self.end(m, '--seed', 1, '--dt', 0.03125, '--t1', 4, '--set', "x=1")['state'] for m in (a, b))
        for k in x:
            for u, v in zip(flat(x[k]), flat(y[k])):
                self.assertAlmostEqual(u, v, delta=1e-12)
        shown = subprocess.run([PROGRAM, 'show', a], capture_output=True, text=True).stdout
        for text in ('noise friction_1 force', 'noise friction_3 force'):
            self.assertIn(text, shown)

    def test_refused(self):
        for text, said in (("friction x'^2 = c", 'linear in the velocities'), ("friction x' - 1 = c", 'linear'),
                           ("friction x = c", 'no velocity to damp'), ("friction x' = c*w'", 'as a `force`'),
                           ("temperature kT", 'needs `friction`'),
                           ("friction x' = c\ntemperature x", 'only numbers and parameters'),
                           ("friction x' = c\ntemperature kT\ntemperature kT", 'a second `temperature`')):
            self.refused(said, self.model(self.HEAD + text + '\n'))


class Rates(Lab):
    """`show --rates`. Chaplygin's ball: with the amplitude c Gamma varied, energy and M.Gamma are conserved on every
    path, frozen only M.Gamma; |M|^2 never; with a constant amplitude none (errata of HP, A.4)."""
    BALL = """model chaplygin
param m = 1, r = 1, c = 0.3
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let I = diag(0.35, 0.5, 0.4)
let M = I*Omega + m*r^2*cross(Gamma, cross(Omega, Gamma))
lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x')
constraint x' = R*cross(Omega, r*Gamma)
noise W transport Omega = AMPLITUDE
observable length = norm(Gamma), jellett = dot(M, Gamma), square = dot(M, M), push = reaction.x
start Omega = [0.3, 0.1, 1.0]
"""
    ZERO, NOT = 'zero, proved', 'not zero'

    def rates(self, text, *args):
        p = subprocess.run([PROGRAM, 'show', self.model(text), '--rates', '--json', *args], capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stderr)
        return {(r['name'], r['of']): r for r in json.loads(p.stdout)['rates']}

    def test_chaplygin(self):
        for amplitude, energy, jellett in (('c*Gamma', self.ZERO, self.ZERO), ('c*Gamma frozen', self.NOT, self.ZERO),
                                           ('c*e1', self.NOT, self.NOT)):
            rates = self.rates(self.BALL.replace('AMPLITUDE', amplitude))
            want = {'energy': energy, 'length': self.ZERO, 'jellett': jellett, 'square': self.NOT}
            self.assertEqual({k for k, _ in rates}, set(want))  # a force of constraint has no rate
            for name, noise in want.items():
                self.assertEqual(rates[name, 'dt']['verdict'], self.ZERO)
                self.assertEqual(rates[name, 'dW']['verdict'], noise, (amplitude, name))

    def test_formulas(self):
        rates = self.rates("""model coloured
param k = 2, s = 0.7
config x in R
process N drift -k*N
lagrangian 1/2*x'^2
force x' = N
noise W process N = s
observable n = N, n2 = N^2
""")
        self.assertEqual(rates['energy', 'dt']['formula'], "x'*N")
        self.assertEqual(rates['energy', 'dW']['verdict'], self.ZERO)
        self.assertEqual(rates['n', 'dW']['formula'], 's')
        self.assertEqual(rates['n2', 'mean']['verdict'], self.NOT)
        self.assertEqual(rates['n2', 'mean']['formula'], 's^2 - 2*k*N^2')
        self.assertFalse(rates['n2', 'mean']['unsolved'])
        square = self.rates(self.BALL.replace('AMPLITUDE', 'c*e1'))['square', 'dW']  # long: in accelerations
        self.assertTrue(square['unsolved'] and "Omega'" in square['formula'], square)

    def test_ito(self):
        """Means of Ito integrals do not move: proved. n = exp(s W - s^2 t/2) on the path; the drift is printed."""
        text = """model ito
param s = 0.4, m = 2
config x in R, y in R^2
process w, n, a drift -a
lagrangian m/2*x'^2 + 1/2*(1 + a^2)*dot(y', y')
noise W process w = 1, n = s*n ito
noise W force x' = s*x' ito
noise V process a = s*cos(a) ito
noise V force y'[2] = y'[1]*a ito
observable v = x', n1 = n, p = (1 + a^2)*y'[2], level = a
start n = 1, x' = 1, a = 0.3, y' = [1, 0]
"""
        rates = self.rates(text)
        for name in ('v', 'n1', 'p'):
            self.assertEqual(rates[name, 'mean']['verdict'], self.ZERO, name)
            self.assertEqual(rates[name, 'dt']['verdict'], self.NOT, name)
        self.assertEqual(rates['level', 'mean']['verdict'], self.NOT)
        shown = subprocess.run([PROGRAM, 'show', self.model(text)], capture_output=True, text=True).stdout
        self.assertNotIn(' ito', shown.split('# Derived')[0].replace('model ito', ''))
        s = self.end(self.model(text), '--seed', 4, '--dt', 1/256, '--t1', 1, '--method', 'rk4')['state']
        for value, c in ((s['n'], 0.4), (s["x'"], 0.2)):  # of rk4 with frozen increments: 256 (0.4 dW)^5/120
            self.assertAlmostEqual(value, math.exp(c*s['w'] - c*c/2), delta=1e-6)

    def test_columns_of_forces(self):
        """Run and ensemble say what they show of a force of constraint."""
        m = self.model(SLEIGH)
        for args in (('run', m, '--seed', 1, '--no-events'), ('ensemble', m, '--paths', 32), ('ensemble', m, '--path', 3)):
            p = self.call(*args, '--dt', 1/16, '--t1', 1)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertEqual(p.stderr.count('forces of constraint have a white part'), 1, p.stderr)
        p = self.call('ensemble', m, '--paths', 32, '--columns', 'x', '--dt', 1/16, '--t1', 1)
        self.assertNotIn('white part', p.stderr)
        self.assertNotIn('events', p.stderr)

    def test_ends(self):
        """An event that ends a run: on the grid in a single run, and there not proved; an ensemble says that it goes on."""
        m = self.model(OSCILLATOR + 'event far: w = 1 rising terminal\n')
        end = self.end(m, '--seed', 1, '--dt', 1/8, '--t1', 40)
        self.assertEqual((end['end_event'], end['proved'], end['t'] % 0.125), ('far', {'half': False, 'far': False}, 0))
        p = self.call('ensemble', m, '--paths', 32, '--dt', 1/8, '--t1', 1)
        self.assertIn('ensembles do not look for events: paths go on through those that end a single run', p.stderr)

    def test_bath_and_basis(self):
        """Velocities eliminated by a basis: a split step does not fit and is refused, others keep the rod."""
        m = self.model('model rod\nconfig p in R^2\nlagrangian 1/2*dot(p\', p\') - p[2]\nholonomic dot(p, p) = 1\n'
                       'friction p\' = 1\ntemperature 1\nobservable far = dot(p, p) - 1\nstart p = [1, 0]\n')
        for method in ('baoab', 'obabo'):
            for more in ((), ('--metropolis',)):
                p = self.call('ensemble', m, '--paths', 32, '--dt', 1/16, '--t1', 1, '--method', method, *more)
                self.assertEqual(p.returncode, 2, p.stderr)
                self.assertIn('needs a constant mass matrix', p.stderr)
                self.assertIn('baoab_rattle and ovo_rattle', p.stderr)
        for method in ('ovo_midpoint', 'ovo_rattle', 'baoab_rattle'):
            p = self.call('ensemble', m, '--paths', 32, '--dt', 1/16, '--t1', 1, '--method', method, '--json')
            self.assertEqual(p.returncode, 0, p.stderr)
            far = json.loads(p.stdout)['observables']['far']
            self.assertLess(max(map(abs, far['max'] + far['min'])), 1e-12)
        self.refused('the midpoint rule preserves volume only', m, '--seed', 1, '--dt', 1/16, '--method', 'ovo_midpoint', '--metropolis')

    def test_ito_without_inertia(self):
        """A velocity that has its inertia from a constraint alone: the paths are those without it."""
        rest = "noise W force y' = s*(1 + y'^2), phi' = 0.3*y' ito\nstart y' = 1\n"
        bound = "param s = 0.1\nconfig x in R, y in R, phi in S1\nlagrangian 1/2*(y'^2 + phi'^2) - s*x\nconstraint x' = y'\n"
        free = "param s = 0.1\nconfig y in R, phi in S1\nlagrangian 1/2*(y'^2 + phi'^2) - s*y\n"
        a, b = (self.end(self.model('model edge\n' + text + rest), '--seed', 3, '--dt', 1/64, '--t1', 1)['state']
                for text in (bound, free))
        for k, x in b.items():
            self.assertAlmostEqual(a[k], x, delta=1e-13)  # of rounding in 64 steps
        self.assertAlmostEqual(a['x'], a['y'], delta=1e-13)

    def test_ito_under_constraints(self):
        """The same where reactions act: of an edge; of a rod and a screw, with an amplitude that W moves."""
        blade = """config x in R, y in R, phi in S1
lagrangian 1/2*(x'^2 + y'^2 + phi'^2)
constraint x'*sin(phi) = y'*cos(phi)
noise W force x' = 0.4*x' ito
noise V force phi' = 0.3*phi' ito
observable v = x'*cos(phi) + y'*sin(phi), w = phi'
start x' = 1, phi' = 0.5
"""
        rod = """config p in R^2, z in R
process N
lagrangian 1/2*dot(p', p') + 1/2*z'^2
holonomic dot(p, p) = 1
constraint z' = 2*(p[1]*p'[2] - p[2]*p'[1])
noise W force p' = 0.4*N*p' ito
noise W process N = 0.3*N ito
observable w = p[1]*p'[2] - p[2]*p'[1], n = N
start p = [1, 0], p'[2] = 0.7, N = 0.2
"""
        for name, text in (('blade', blade), ('rod', rod)):
            path = self.model(f'model {name}\n' + text)
            rates = self.rates(f'model {name}\n' + text)
            for observable in [o.split(' =')[0] for o in text.split('observable ')[1].split('\n')[0].split(', ')]:
                self.assertEqual(rates[observable, 'mean']['verdict'], self.ZERO, observable)
            shown = subprocess.run([PROGRAM, 'show', path], capture_output=True, text=True).stdout
            self.assertNotIn(' ito', shown)
            again = self.rates(shown)
            self.assertEqual({k: v['verdict'] for k, v in rates.items()}, {k: v['verdict'] for k, v in again.items()})
        self.refused('also perturbs the path', self.model(
            'model ball\nconfig R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, Omega)\n'
            'noise W transport Omega = e1\nnoise W force Omega = Omega ito\n'))

    def test_mean(self):
        """Noise that turns about all axes: the mean of Gamma decays, that of |Gamma| does not."""
        text = "model turn\nconfig R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, Omega)\n" \
               "observable up = R[3,3], spin = Omega[3]\n"
        text += ''.join(f"noise W{i} transport Omega = 0.2*e{i}\n" for i in (1, 2, 3))
        rates = self.rates(text)
        self.assertEqual(rates['up', 'mean']['verdict'], self.NOT)
        self.assertEqual(rates['energy', 'mean']['verdict'], self.ZERO)
        plain = self.rates("model free\nconfig x in R\nlagrangian 1/2*x'^2\nobservable v = x'\n")
        self.assertEqual({of for _, of in plain}, {'dt'})
        p = subprocess.run([PROGRAM, 'show', self.model(text), '--rates', '--latex'], capture_output=True, text=True)
        self.assertEqual(p.returncode, 2)


class Driver(Lab):
    """Smooth functions in place of the noise, against numbers computed apart from this program (two grids, agreement
    6e-16). Steps of rk4 and dop853 at tolerances 1e-13 leave less than 1e-12."""
    R0 = 'rotation([[0.8, 0, -0.6], [0, 1, 0], [0.6, 0, 0.8]])'

    def ball(self, l, inertia, noise):
        text = BALL.split('noise W')[0].replace('l = 0.2', f'l = {l}').replace('diag(0.35, 0.35, 0.4)', inertia)
        start = f'start R = {self.R0}, Omega = [0.5, -0.4, 1.2], x[1] = -0.6*l, x[2] = 0\n'
        return self.model(text + noise + 'observable gamma = Gamma, centre = x - l*R*e3\n' + start)

    def near(self, got, wanted):
        for a, b in zip(flat(got), wanted):
            self.assertAlmostEqual(a, b, delta=1e-12)

    def test_routh(self):
        m = self.ball(0.2, 'diag(0.35, 0.35, 0.4)',
                      'noise W transport Omega = 0.3*e3\nnoise V transport Omega = [0.2, -0.1, 0]\n')
        drivers = 'W=0.5*sin(3*t); V=0.4*sin(2*t)'
        for more in ([], ['--closure', 'multipliers'], ['--engine', 'compiled'],
                     ['--method', 'gauss6', '--dt', 0.03125]):
            tol = [] if '--dt' in more else ['--rtol', 1e-13, '--atol', 1e-13]
            d = self.end(m, '--driver', drivers, '--t1', 5, *tol, *more)
            self.near(d['state']['Omega'], [-0.3585058115652956, -0.6769765549327119, 1.1363246022649872])
            self.near(d['observables']['gamma'], [0.0867302810546015, -0.5931865498129416, 0.8003796445869974])
            self.near(d['observables']['centre'], [-2.8529134420156293, 0.5595428070143778, 1])
            self.near(d['state']['R'], [-0.0112402604161471, -0.8039385434287017, -0.5946061511080380,
                                        0.9961684169325822, 0.0425738829654537, -0.0763933871174516,
                                        0.0867302810546015, -0.5931865498129416, 0.8003796445869974])

    def test_chaplygin(self):
        m = self.ball(0, 'diag(0.35, 0.45, 0.6)', 'noise W transport Omega = 0.3*Gamma frozen\n')
        for more in ([], ['--closure', 'multipliers']):
            d = self.end(m, '--driver', 'W=0.5*sin(3*t)', '--t1', 5, '--rtol', 1e-13, '--atol', 1e-13, *more)
            self.near(d['state']['Omega'], [0.4241958420815025, 0.2124087234807708, 1.2596017947504708])
            self.near(d['observables']['gamma'], [0.6176807713754646, 0.2375594042422780, 0.7496905989333630])

    def test_driver_options(self):
        m = self.model(OSCILLATOR)
        self.refused('the model has no process `V`', m, '--driver', 'V=t')
        self.refused('--driver: the process `V` has no function', self.model(SLEIGH), '--driver', 'W=t')
        self.refused('depends on t and parameters alone', m, '--driver', 'W=x[1]')
        self.refused('in place of the noise', m, '--driver', 'W=t', '--seed', 1, '--dt', 1)
        whole = self.end(m, '--driver', 'W=sin(t)', '--t1', 4, '-o', 'whole.h5')
        self.end(m, '--driver', 'W=sin(t)', '--t1', 2, '-o', 'part.h5')
        self.assertEqual(whole['state'], self.end('--from', 'part.h5', '--t1', 4)['state'])
        x, w = whole['state']['x'], 0.8*math.sin(4)  # turned by s W
        a, b = math.cos(4), 0.5*math.sin(4)
        self.assertAlmostEqual(x[0], a*math.cos(w) - b*math.sin(w), delta=1e-8)
        self.assertAlmostEqual(x[1], a*math.sin(w) + b*math.cos(w), delta=1e-8)


def flat(x):
    return [y for z in x for y in flat(z)] if isinstance(x, list) else [x]


if __name__ == '__main__':
    unittest.main()
