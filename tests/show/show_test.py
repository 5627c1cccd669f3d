#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""show_test.py PROGRAM MODELS README GOLDEN [--accept]: equations as `anagyre show` prints them.

The equations of the skate of the README and of eight models are compared with files, and with what a textbook has: they
are no longer than that; those of the rattleback with a file. The LaTeX of every model is checked for balance; where
pdflatex is installed it is compiled, and no line may be too wide. --accept writes the files anew."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, MODELS, README, GOLDEN = sys.argv[1:5]
ACCEPT = "--accept" in sys.argv
wrong = []

# Equations of motion by hand, in the names of the models, vectors as in the papers that the models cite.
TEXTBOOK = {
    "skate": ["v' = a*cos(phi)", "w' = 0"],
    "chaplygin_sleigh": ["u' = a*omega^2", "(J + m*a^2)*omega' = -m*a*u*omega"],
    "falling_disk": [
        "(A + m*R^2)*theta'' = phi'*cos(theta)*(B + m*R^2)*(psi' + phi'*sin(theta)) - A*phi'^2*sin(theta)*cos(theta)"
        " + m*g*R*sin(theta)",
        "A*phi''*cos(theta)^2 + (B + m*R^2)*sin(theta)*(psi'' + phi''*sin(theta))"
        " = theta'*cos(theta)*(2*A*phi'*sin(theta) - B*psi' - 2*(B + m*R^2)*phi'*sin(theta))",
        "(B + m*R^2)*(psi'' + phi''*sin(theta)) = -(B + 2*m*R^2)*theta'*phi'*cos(theta)"],
    "routh_sphere": ["I*Omega' + m*cross(s, cross(Omega', s)) = cross(I*Omega, Omega)"
                     " - m*cross(s, l*cross(Omega, cross(Omega, e3)) + g*Gamma)"],
    "chaplygin_ball": ["I*Omega' + m*r^2*cross(Gamma, cross(Omega', Gamma)) = cross(I*Omega, Omega)"],
    "suslov": ["I11*Omega[1]' = -I13*Omega[1]*Omega[2] + chi[3]*Gamma[2] - chi[2]*Gamma[3]",
               "I22*Omega[2]' = I13*Omega[1]^2 + chi[1]*Gamma[3] - chi[3]*Gamma[1]"],
    # x' = l*v_*cos(phi)*cos(th), th' = v_*sin(phi): the momentum equation for v_
    "snakeboard": ["(m*l^2*cos(phi)^2 + (J + Jr + 2*Jw)*sin(phi)^2)*v_'"
                   " = sin(phi)*(a*Jr*wr^2*sin(t*wr) - (J + Jr + 2*Jw - m*l^2)*v_*b*ww*cos(t*ww)*cos(phi))"],
    # d2*v[1] and d2*v[2] are the speed and the rate of turning of the first body; that of the second one is
    # v[1]*sin(phi) - d1*v[2]*cos(phi), and its rate enters both equations with the coefficients of v[1] and v[2]
    "roller_racer": ["m*d2^2*v'[1] + I2*sin(phi)*(v'[1]*sin(phi) - d1*v'[2]*cos(phi))"
                     " = -I2*phi'*sin(phi)*(v[1]*cos(phi) + d1*v[2]*sin(phi))",
                     "I1*d2^2*v'[2] - I2*d1*cos(phi)*(v'[1]*sin(phi) - d1*v'[2]*cos(phi))"
                     " = I2*d1*phi'*cos(phi)*(v[1]*cos(phi) + d1*v[2]*sin(phi))"],
    "two_wheeled_cart": ["(m + 2*Iw/r^2)*u' = m*a*omega^2", "(J + m*a^2 + 2*Iw*b^2/r^2)*omega' = -m*a*u*omega"],
}


def show(model, *options):
    done = subprocess.run([PROGRAM, "show", model, "--quiet", *options], capture_output=True, text=True)
    if done.returncode:
        wrong.append(f"{model}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def skate(folder):
    text = re.search(r"```nh\n(# skate.nh.*?)```", open(README).read(), re.S).group(1)
    path = os.path.join(folder, "skate.nh")
    open(path, "w").write(text)
    return path


def motion(equations):
    """The lines below the heading of the equations of motion."""
    block = equations.split("# equations of motion\n", 1)[1]
    return [line[4:] for line in block.split("#\n", 1)[0].splitlines()]


def helpers(equations, lines, book):
    """The definitions of the names that the lines use, directly or not, and the textbook does not: they count as well."""
    where = dict(re.findall(r"^#   (\w+) = (.*)", equations.partition("# where\n")[2], re.M))
    known, used, left = set(words(book)), [], words(lines)
    while left:
        name = left.pop()
        if name in where and name not in used and name not in known:
            used.append(name)
            left += words([where[name]])
    return [where[name] for name in used]


def words(lines):
    return re.findall(r"\b[A-Za-z]\w*", " ".join(lines))


def compare(name, text):
    path = os.path.join(GOLDEN, name)
    if ACCEPT:
        open(path, "w").write(text)
    elif not os.path.exists(path) or open(path).read() != text:
        wrong.append(f"{name} differs from {path}; now it is\n{text}")


def check_equations(folder):
    for name, book in TEXTBOOK.items():
        model = skate(folder) if name == "skate" else os.path.join(MODELS, name + ".nh")
        text = show(model).split("# Derived equations\n")[-1]
        compare(name + ".txt", text)
        lines = motion(text)
        lines += helpers(text, lines, book)
        if sum(map(len, lines)) > sum(map(len, book)):
            wrong.append(f"{name}: longer than the textbook:\n" + "\n".join(lines))
    compare("rattleback.txt", show(os.path.join(MODELS, "rattleback.nh")).split("# Derived equations\n")[-1])
    for name in "chaplygin_sleigh", "routh_sphere":
        text = show(os.path.join(MODELS, name + ".nh"), "--latex", "--standalone")
        compare(name + ".tex", "\n".join(line for line in text.splitlines() if line[:1] != "%") + "\n")
    for form in "multipliers", "constraints", "lagrangian":
        text = show(os.path.join(MODELS, "routh_sphere.nh"), "--form", form).split("# Derived equations\n")[-1]
        compare(f"routh_sphere_{form}.txt", text)


SCOOTER = """model scooter
param m = 2, J = 0.3, a = 0.15, c = 0.1
config x in R, y in R, phi in S1
lagrangian m/2*(x'^2 + y'^2) + J/2*phi'^2 + a*m*phi'*(cos(phi)*y' - sin(phi)*x') - 0.1*x
constraint cos(phi)*y' - sin(phi)*x' = a*phi' + 0.05*sin(t)
force phi' = 0.2*cos(2*t) - c*phi'
start x' = 0.4
"""


def check_names(folder):
    """No two names stand for what is written alike."""
    scooter = os.path.join(folder, "scooter.nh")
    open(scooter, "w").write(SCOOTER)
    for path in [scooter] + [os.path.join(MODELS, file) for file in sorted(os.listdir(MODELS)) if file.endswith(".nh")]:
        given = re.findall(r"^#   k\d+ = (.*)$", show(path), re.M)
        if len(set(given)) < len(given):
            wrong.append(f"{os.path.basename(path)}: two names for one expression")


LARGE = [("link_net", ["W=3", "H=4"]), ("trailers", ["K=10"]), ("joint_chain", ["K=10"]), ("cart_pendula", ["K=10"])]


def check_large():
    """Expressions whose parts are shared many times over: each part is looked at once, or this would take forever."""
    for name, sets in LARGE:
        model = os.path.join(MODELS, os.pardir, "tests", "models", name + ".nh")
        if "# energy\n" not in show(model, *(word for value in sets for word in ("--set", value))):
            wrong.append(f"{name}: no energy among its equations")


def balanced(tex):
    """Environments, braces and \\left \\right close what they open, in order; no double subscript."""
    stack = []
    for m in re.finditer(r"\\begin\{(.*?)\}|\\end\{(.*?)\}|\\(left|right)(?![a-z])|(?<!\\)([{}])", tex):
        opens = m.group(1) or ("left" if m.group(3) == "left" else "{" if m.group(4) == "{" else None)
        closes = m.group(2) or ("left" if m.group(3) == "right" else "{" if m.group(4) == "}" else None)
        if opens:
            stack.append(opens)
        elif not stack or stack.pop() != closes:
            return False
    return not stack and "__" not in tex and not re.search(r"_\{[^{}]*\}_", tex)


def check_latex(folder):
    compiler = shutil.which("pdflatex")
    for file in sorted(os.listdir(MODELS)):
        name, kind = os.path.splitext(file)
        if kind != ".nh":
            continue
        tex = show(os.path.join(MODELS, file), "--latex", "--standalone")
        if not balanced("\n".join(line for line in tex.splitlines() if line[:1] != "%")):
            wrong.append(f"{name}: LaTeX is not balanced")
        if re.search(r"\\paragraph\*\{[^}]*(?<!\\)[_&#$^]", tex):
            wrong.append(f"{name}: a heading has characters that LaTeX reads as its own")
        if not compiler:
            continue
        open(os.path.join(folder, name + ".tex"), "w").write(tex)
        done = subprocess.run([compiler, "-interaction=nonstopmode", "-halt-on-error", name + ".tex"], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", text=True)
        if done.returncode or "Overfull" in done.stdout:
            found = re.findall(r"^(?:!|Overfull).*", done.stdout, re.M)
            wrong.append(f"{name}: " + "; ".join(found[:3]))
    print("every LaTeX file compiled" if compiler else "SKIPPED: no pdflatex, LaTeX was checked for balance only")


with tempfile.TemporaryDirectory() as folder:
    check_equations(folder)
    check_names(folder)
    check_large()
    check_latex(folder)
print("\n".join(wrong) or "all equations as expected")
sys.exit(bool(wrong))
