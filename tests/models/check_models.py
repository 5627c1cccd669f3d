#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Independent checks of the shipped models. Needs numpy only.

For every model the equations of motion are written once more, by hand, in hand_rolling.py and hand_other.py:
Newton-Euler, reduced equations of the literature, closed forms. None of this uses the Lagrangian or the constraints of
the model file. Two comparisons:

  file     the accelerations by hand against those that reader.py derives from the model file, at random states; a file
           with body words as `anagyre show` writes it out
  program  without noise (noise_test.py has the fields of noise): the end of a motion by hand against `anagyre run MODEL --json` (skipped without --program)

    check_models.py [--program build/anagyre] [NAME]..."""
import json
import os
import re
import subprocess
import sys
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean
import hand_other  # noqa: F401 (each adds its models to CHECKS)
import hand_rolling  # noqa: F401
from hand import CHECKS
from oracle import Motion
from reader import Model

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def text_of(name, program):
    """the model file; with body words, what the program makes of them"""
    path = os.path.join(ROOT, 'models', name + '.nh')
    text = open(path).read()
    if not re.search(r'^body ', text, re.M):
        return text
    if not program:
        return None
    return subprocess.run([program, 'show', path], capture_output=True, text=True, check=True).stdout


def against_file(text, name, hand, rng):
    """largest difference of the accelerations, relative to their size, at random states; and of the start"""
    m = Model(text, hand.sets)
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
    args = [program, 'run', model, '--t1', repr(t1), '--rtol', '1e-13', '--atol', '1e-13', '--method', 'dop853', '--noise',
            'off', '--json', '--quiet']
    for k, v in sets.items():
        args += ['--set', f'{k}={v}']
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: exit code {p.returncode}\n{p.stderr}')
    return json.loads(p.stdout)


def against_program(name, hand, program):
    got = program_run(program, os.path.join(ROOT, 'models', name + '.nh'), hand.t1, hand.sets)
    y = Motion(hand.rhs, 0.0, hand.y0, tol=3e-14, corners=hand.corners).to(hand.t1)
    worst = abs(got['t'] - hand.t1)
    extra = hand.forces(hand.t1, y, hand.rates(hand.t1, y)) if hand.forces else {}
    for part, want in (('state', hand.report(hand.t1, y)), ('observables', extra)):
        for k, v in want.items():
            if k not in got[part]:
                raise KeyError(f'{name}: no {k} in the {part} of the program ({", ".join(got[part])})')
            worst = max(worst, np.max(np.abs(np.array(got[part][k]) - v)/np.maximum(1, np.abs(v))))
    return worst


TWINS = {  # model: the same system in other words or coordinates
    'routh_sphere': ('routh_sphere_euler', 'routh_sphere_body'), 'chaplygin_ball': ('chaplygin_ball_body',),
    'rattleback': ('rattleback_euler', 'rattleback_body'), 'falling_disk': ('falling_disk_so3', 'falling_disk_body'),
    'cylinder_ball': ('cylinder_ball_euler', 'cylinder_ball_body'), 'turntable_ball': ('turntable_ball_body',),
    'bowl_ball': ('bowl_ball_body',), 'cone_ball': ('cone_ball_body',), 'sphere_ball': ('sphere_ball_body',),
    'pendulum': ('pendulum_holonomic',), 'bicycle': ('bicycle_points', 'joints/bicycle_joints'),
    'rubber_torus': ('rubber_torus_so3', 'rubber_torus_euler'),
    'rubber_ellipsoid': ('rubber_ellipsoid_so3', 'rubber_ellipsoid_euler'),
    'rubber_routh_sphere': ('rubber_routh_sphere_so3',), 'rubber_disk': ('rubber_disk_so3', 'rubber_disk_euler'),
    'truncated_ball': ('truncated_ball_so3', 'truncated_ball_curvature'), 'rolling_torus': ('rolling_torus_so3',),
    'rubber_ball': ('rubber_ball_so3',), 'chaplygin_top': ('chaplygin_top_so3',),
    'rubber_sphere_ball': ('rubber_sphere_ball_so3',), 'euler_disk': ('euler_disk_so3',)}


SHORT = {'bicycle': 1.0}  # twins are compared at t = 10, large ones earlier


def twins(one, b, program):
    """each observable same_NAME of the twin against NAME of the model, whose run is `one`"""
    two = program_run(program, os.path.join(HERE, b + '.nh'), one['t'], {})
    shared = [k for k in two['observables'] if k.startswith('same_')]

    def pick(run, k):  # also NAME of the only body
        values = {**run['state'], **run['observables']}
        return values[k] if k in values else next(v for n, v in values.items() if n.endswith('.' + k))
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
        text = text_of(name, program)
        if text:
            verdict(f'{name}, file', against_file(text, name, hand, np.random.default_rng(7)), 1e-11)
        if program:
            verdict(f'{name}, program', against_program(name, hand, program), 1e-9)
    for a, others in TWINS.items() if program else []:
        if not argv or a in argv:
            one = program_run(program, os.path.join(ROOT, 'models', a + '.nh'), SHORT.get(a, 10.0), {})
            for b in others:
                verdict(f'{a} and {b}', twins(one, b, program), 1e-9)
    return bad


if __name__ == '__main__':
    sys.exit(int(main(sys.argv[1:]) > 0))
