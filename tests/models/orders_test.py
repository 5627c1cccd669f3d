#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""orders_test.py PROGRAM: the declared order of every method is the measured one, on models of all kinds; methods that
claim to be reversible come back to the start.

The slopes are measured by `anagyre converge` between the longest steps and rounding. Starts and times are chosen so that
no leading term of the error vanishes by symmetry.
"""
import json
import subprocess
import sys

# An error constant that is small on purpose: above rounding the next order still shows in the slope.
SMALL = {"dopri5", "tsit5", "dop853"}

# A step back undoes a step.
REVERSIBLE = ("midpoint", "gauss", "trapezoid", "lobatto3a", "lobatto3b")

# model, times: where several are given, each order must show at one of them (at another the leading term of an error may
# be small, so that the next one or rounding covers it)
MODELS = [
    ("falling_disk", "2"),
    ("routh_sphere", "4"),  # on SO3
    ("roller_racer", "2"),
    ("cylinder_ball", "1.7"),  # affine
    ("rattleback", "2"),
    ("heavy_top", "0.7"),
    ("spherical_pendulum", "0.9 1.4"),
    ("driven_blade", "2"),  # depends on time
    ("sliding_disk", "3"),  # friction
]


def wrong_rows(program, model, time, basis):
    """What is wrong with each method, by its name."""
    done = subprocess.run([program, "converge", model, "--json", "--method", "all", "--t1", time],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return {"all": f"{model}: {done.stderr}"}
    wrong = {}
    for row in json.loads(done.stdout)["methods"]:
        name, declared = row["method"], row["declared"]
        if "refused" in row:
            wrong[name] = f"{model}, {name}: {row['refused']}"
            continue
        back = row["kept"]["reversibility"]
        if declared > 6 and back is None:  # steps that are too long on the way back
            continue
        if name.startswith(REVERSIBLE) and not basis and (back is None or not back < 1e-9):
            wrong[name] = f"{model}, {name}: {back} from the start after as many steps back"
        if declared > 6:  # few points between long steps and rounding: see study_converge_test and run_order_test
            continue
        order, half = row["order"], row["confidence"]
        if order is not None and name in SMALL and order >= declared - 0.1 - half:
            continue
        if order is None or abs(order - declared) > 0.1 or half > 0.1:
            wrong[name] = f"{model}, {name}, to t = {time}: declared {declared}, measured {order} +- {half}"
    return wrong


def main():
    program, wrong = sys.argv[1], []
    for model, times in MODELS:
        # a basis is chosen anew at the end of a step: a step back has another one
        check = subprocess.run([program, "check", model, "--json"], capture_output=True, text=True, check=True)
        basis = json.loads(check.stdout)["elimination"] == "basis"
        found = [wrong_rows(program, model, time, basis) for time in times.split()]
        wrong += [text for name, text in found[0].items() if all(name in rows for rows in found)]
    print("\n".join(wrong) or f"{len(MODELS)} models: all measured orders agree")
    return bool(wrong)


sys.exit(main())
