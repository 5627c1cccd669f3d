#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""picture_test.py PROGRAM MODELS: the pictures of the shipped models.

Every model has one: bodies, or draw statements. Drawings leave the emitted equations as they are, to the letter. Wheels,
balls and stones turn as they roll: the arguments of the drawings are recorded as observables, and the velocity of the
material point at the contact, from differences in time, vanishes. Drawn surfaces go through the points of contact."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PROGRAM, MODELS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
del sys.argv[1:3]
FILES = sorted(glob.glob(os.path.join(MODELS, "*.nh")))
STEP = 1e-3  # of the differences in time; their error is of the order of STEP^2 times the third derivative
CLAUSE = r"(?: (at|axis|mark|turned|colour|for) )"
KINDS = ["ball", "ellipsoid", "disk", "cylinder", "torus", "box", "point", "segment", "polyline", "spring"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def statements(text):
    """Statements, each on one line, without comments."""
    lines = [re.sub(r"\s*#.*", "", line) for line in text.splitlines()]
    return re.sub(r"\n\s+", " ", "\n".join(line for line in lines if line)).splitlines()


def drawings(text):
    """(kind, sizes, {clause: expression}) of the draw statements without a running index."""
    found = []
    for line in statements(text):
        if not line.startswith("draw ") or " for " in line:
            continue
        kind = re.match(r"draw (\w+)", line).group(1)
        rest = line[len("draw ") + len(kind):]
        sizes = ""
        if rest.startswith("("):
            depth = [i for i in range(len(rest)) if rest[:i + 1].count("(") == rest[:i + 1].count(")")][0]
            sizes, rest = rest[1:depth], rest[depth + 1:]
        parts = re.split(CLAUSE, rest)
        found.append((kind, sizes, dict(zip(parts[1::2], parts[2::2]))))
    return found


def run(text, observables, t1=1):
    """The series of a model with further observables, at times STEP apart."""
    more = "".join(f"observable {name} = {x}\n" for name, x in observables.items())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.nh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(line for line in statements(text) if not line.startswith("draw ")) + "\n" + more)
        out = subprocess.run([PROGRAM, "run", path, "--t1", str(t1), "--every", str(STEP), "--json", "--series", "--rtol",
                              "1e-12", "--atol", "1e-12", "--no-events"], capture_output=True, text=True, check=False)
    if out.returncode:
        raise AssertionError(out.stderr)
    series = json.loads(out.stdout)["series"]
    return {name: np.array(series[name]) for name in observables}


def three(v):
    return v if v.shape[1] == 3 else np.hstack([v, np.zeros((len(v), 1))])


def rate(x):
    return (x[2:] - x[:-2])/(2*STEP)


class Pictures(unittest.TestCase):
    def test_every_model(self):
        self.assertGreater(len(FILES), 40)
        for path in FILES:
            text = read(path)
            shown = any(kind in KINDS for kind, _, _ in drawings(text)) or re.search(r"^draw (ball|segment).* for ", text, re.M)
            self.assertTrue(shown or re.search(r"^body ", text, re.M), f"{path} has no picture")

    def test_equations(self):
        for path in FILES:
            if not re.search(r"^draw ", read(path), re.M):
                continue
            plain = re.sub(r"^draw .*\n(?:[ \t]+.*\n)*", "", read(path), flags=re.M)
            self.assertNotIn("\ndraw ", plain)
            with tempfile.NamedTemporaryFile("w", suffix=".nh", encoding="utf-8") as file:
                file.write(plain)
                file.flush()
                both = [subprocess.run([PROGRAM, "emit", name], check=True, capture_output=True, text=True).stdout
                        for name in (path, file.name)]
            self.assertEqual(both[0], both[1], path)

    def turning(self, name, kind, index):
        """Place, its velocity, angular velocity and sizes of a drawing over time."""
        text = read(os.path.join(MODELS, name + ".nh"))
        _, sizes, args = [d for d in drawings(text) if d[0] == kind][index]
        wanted = {"pic_" + key: x for key, x in args.items() if key != "colour"}
        wanted["pic_size"] = f"[{sizes}]" if "," in sizes else sizes
        got = run(text, wanted)
        if "pic_turned" in got:
            frame = got["pic_turned"]
        else:
            axis, mark = three(got["pic_axis"]), three(got["pic_mark"])
            np.testing.assert_allclose([np.sum(axis*axis, 1), np.sum(mark*mark, 1)], 1, atol=1e-9)
            np.testing.assert_allclose(np.sum(axis*mark, 1), 0, atol=1e-9)
            frame = np.stack([mark, np.cross(axis, mark), axis], axis=2)
        spin = np.einsum("nij,nkj->nik", rate(frame), frame[1:-1])
        omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        at = three(got["pic_at"])
        return at[1:-1], rate(at), omega, frame[1:-1], got["pic_size"][0]

    def test_rolling(self):
        """On the plane z = 0: the lowest point touches it and is at rest."""
        up = np.array([0.0, 0, 1])
        for name, kind, index in (("chaplygin_ball", "ball", 0), ("routh_sphere", "ball", 0), ("rattleback", "ellipsoid", 0),
                                  ("falling_disk", "disk", 0), ("vertical_disk", "disk", 0), ("two_wheeled_cart", "disk", 0),
                                  ("two_wheeled_cart", "disk", 1), ("bicycle", "disk", 0), ("bicycle", "disk", 1),
                                  ("spherical_robot", "shell", 0)):
            at, v, omega, frame, size = self.turning(name, kind, index)
            if kind == "ellipsoid":
                n = np.einsum("nji,j->ni", frame, up)*size
                down = -np.einsum("nij,nj->ni", frame, size*n)/np.linalg.norm(n, axis=1)[:, None]
            elif kind == "disk":
                side = up - frame[:, 2, 2][:, None]*frame[:, :, 2]
                down = -size*side/np.linalg.norm(side, axis=1)[:, None]
            else:
                down = np.tile(-size*up, (len(at), 1))
            slip = v + np.cross(omega, down)
            speed = np.abs(v).max()
            self.assertGreater(speed, 1e-2, name)
            np.testing.assert_allclose((at + down)[:, 2], 0, atol=1e-7, err_msg=name)
            # differences: STEP^2/6 times rates up to 10 per second, cubed
            np.testing.assert_allclose(slip, 0, atol=1e-3*speed, err_msg=f"{name} {kind} {index}")

    def test_surfaces(self):
        """The profile of a drawn bowl at the point of contact is the height of that point."""
        for name, touch in (("bowl_ball", "touch"), ("cone_ball", "touch")):
            text = read(os.path.join(MODELS, name + ".nh"))
            _, sizes, _ = [d for d in drawings(text) if d[0] == "bowl"][0]
            arg, profile = sizes.split(":", 1)
            got = run(text.replace("\ndraw ", f"\nlet pic_profile({arg}) = {profile}\ndraw ", 1),
                      {"pic_z": f"pic_profile(hypot({touch}[1], {touch}[2]))", "pic_touch": touch})
            # the bowl is drawn to the sixth order: 3.2e-4 s^6 is left out, with s < 1.35 along this motion
            np.testing.assert_allclose(got["pic_z"], got["pic_touch"][:, 2], atol=2.5e-3, err_msg=name)


if __name__ == "__main__":
    unittest.main()
