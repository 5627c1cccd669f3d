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

# model, options
MODELS = [
    ("falling_disk", "--t1 2"),
    ("routh_sphere", "--t1 4"),  # on SO3
    ("roller_racer", "--t1 2"),
    ("cylinder_ball", "--t1 1.7"),  # affine
    ("rattleback", "--t1 2"),
    ("heavy_top", "--t1 0.7"),
    ("spherical_pendulum", "--t1 0.9"),
    ("driven_blade", "--t1 2"),  # depends on time
    ("sliding_disk", "--t1 3"),  # friction
]


def main():
    program, wrong = sys.argv[1], []
    for model, options in MODELS:
        # a basis is chosen anew at the end of a step: a step back has another one
        check = subprocess.run([program, "check", model, "--json"], capture_output=True, text=True, check=True)
        basis = json.loads(check.stdout)["elimination"] == "basis"
        done = subprocess.run([program, "converge", model, "--json", "--method", "all"] + options.split(),
                              capture_output=True, text=True, check=False)
        if done.returncode:
            wrong.append(f"{model}: {done.stderr}")
            continue
        for row in json.loads(done.stdout)["methods"]:
            name, declared = row["method"], row["declared"]
            if "refused" in row:
                wrong.append(f"{model}, {name}: {row['refused']}")
                continue
            back = row["kept"]["reversibility"]
            if declared > 6 and back is None:  # steps that are too long on the way back
                continue
            if name.startswith(REVERSIBLE) and not basis and (back is None or not back < 1e-9):
                wrong.append(f"{model}, {name}: {back} from the start after as many steps back")
            if declared > 6:  # few points between long steps and rounding: see study_converge_test and run_order_test
                continue
            order, half = row["order"], row["confidence"]
            if order is not None and name in SMALL and order >= declared - 0.1 - half:
                continue
            if order is None or abs(order - declared) > 0.1 or half > 0.1:
                wrong.append(f"{model}, {name}: declared {declared}, measured {order} +- {half}")
    print("\n".join(wrong) or f"{len(MODELS)} models: all measured orders agree")
    return bool(wrong)


sys.exit(main())
