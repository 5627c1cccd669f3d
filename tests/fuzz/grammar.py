# SPDX-License-Identifier: MIT
"""Model files made by the grammar of the language, for attack.py: most of them are valid, all have something that files of
reasonable people do not have. And option values that nobody needs."""

# Words that mean something to those who read what the program writes: C, TeX, gnuplot, JSON and scripts, HDF5 and our files.
FOREIGN = """int double register restrict main errno NAN INFINITY I complex inline asm stdin struct typedef volatile defined
exp sin v V n N work seg state param out in q p M S B u w xi lambda mu
alpha beta Gamma Omega varepsilon begin end input def relax csname par frac left right hat dot bar prime ldots
plot set system exit splot using title NaN pi2 e10 E1 x1 x_1 x__1 x_1_ _ y_
null true false nan inf undefined constructor prototype __proto__ toString hasOwnProperty script style body eval window
options checkpoint summary parameters events column time names steps reason end_reason version title text
model param config let roll rubber lagrangian constraint noise force frame domain observable start expect for if_ within
sum_ T_ deg_ R S1 S2 SO3 R2 Z L O l0 O0 Il aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""".split()
TEXTS = ['', 'plain', '*/ #include "x" /*', '%', '%s%n%d', '\\input{/etc/passwd}', '\\end{document}', '$x^2_3$', '#&~_^{}',
         '</script><script>alert(1)</script>', '<!-- ', "'; system('true'); '", '`true`', '$(true)', '""', '""quoted""', '\\', '\\\\n\\u0041',
         'é ü ß', '漢字', '\U0001F3B1 ball', 'e\u0301', '\u200b', '\u202e', '\ufeff', '\x85', '\u2028', 'a' * 3000, '{"a": 1}', '??/', '//', '\\\n']
VALUES = ["0", "1", "-1", "2", "0.5", "1e-3", "3", "pi", "1e-8", "1e-160", "1e-308", "5e-324", "1e8", "1e16", "1e160", "1.7976931348623157e308",
          "(1/3)", "0.1", "1e-13", "4503599627370497", "100000"]
SCALARS = ["sin({0})", "cos({0})", "exp({0})", "log({0})", "log1p({0})", "sqrt({0})", "abs({0})", "tanh({0})", "asin({0})", "acos({0})", "atan({0})",
           "cosh({0})", "sign({0})", "({0})^2", "({0})^3", "({0})^-1", "({0})^0.5", "({0})^1000", "({0})^({1})", "({0})+({1})", "({0})-({1})", "({0})*({1})",
           "({0})/({1})", "atan2({0}, {1})", "hypot({0}, {1})", "min({0}, {1})", "max({0}, {1}, 0)", "-({0})", "(if {0} > {1} then {0} else {1})",
           "(if {0} == {1} or not ({0} < 1 and {1} != 2) then 1 else {1})", "dot([{0}, {1}], [{1}, 1])", "norm([{0}, {1}, 1])", "det([[{0}, {1}], [1, {0}]])",
           "trace(diag({0}, {1}))", "solve([[2, {0}], [{1}, 3]], [1, {0}])[1]", "inverse([[2, {0}], [0, 1]])[1,2]", "sum(i in 1..3, ({0})^i)", "unvaried({0})",
           "(rotation([{0}, {1}, 1], {1})*e1)[2]", "cross([{0}, 1, 2], [3, {1}, 4])[3]", "([{0}, {1}]^T*[1, 2])", "euler_angles(euler({0}, {1}, 1))[2]"]


def scalar(rng, names, deep):
    """A scalar expression of these names."""
    if deep <= 0 or rng.random() < 0.2:
        return rng.choice(names) if names and rng.random() < 0.7 else rng.choice(VALUES)
    return rng.choice(SCALARS).replace("{0}", scalar(rng, names, deep - 1)).replace("{1}", scalar(rng, names, deep - 2))


def string(rng):
    return '"' + rng.choice(TEXTS).replace('"', '""') + '"'


class Maker:
    def __init__(self, rng):
        self.rng, self.lines, self.used = rng, [], set()
        self.places, self.rates, self.params = [], [], []  # scalars of the configuration, their velocities, parameters

    def name(self):
        rng = self.rng
        for _ in range(20):
            name = rng.choice(FOREIGN) if rng.random() < 0.5 else rng.choice("abcdfghjkmnoqrsuvwxyz") + rng.choice(("", "1", "2", "_x", "0", "X"))
            if name not in self.used and name[0].isalpha():
                break
        self.used.add(name)
        return name

    def add(self, line):
        self.lines.append(line)

    def any(self, deep=2, rates=False):
        return scalar(self.rng, self.places + self.params + (self.rates if rates else []), deep)

    def coordinates(self):
        rng = self.rng
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
            q, kind = self.name(), rng.randrange(8)
            if kind < 3:
                self.add(f"config {q} in {rng.choice(('R', 'R', 'S1'))}")
                self.places.append(q), self.rates.append(f"{q}'")
            elif kind < 5:
                n = rng.choice((1, 2, 3, 3, 5))
                self.add(f"config {q} in R^{n}")
                self.places += [f"{q}[{i + 1}]" for i in range(n)] if n > 1 else [q]
                self.rates += [f"{q}'[{i + 1}]" for i in range(n)] if n > 1 else [f"{q}'"]
            elif kind == 5:
                w = self.name()
                self.add(f"config {q} in SO3 velocity {w}")
                self.places += [f"({q}*e{rng.randrange(3) + 1})[{rng.randrange(3) + 1}]" for _ in range(2)]
                self.rates += [f"{w}[{i}]" for i in (1, 2, 3)]
            elif kind == 6:
                self.add(f"config {q} in S2")
                self.add(f"start {q} = [0, {rng.choice(('0.6, 0.8', '0, 1', '1, 0', '3e-200, 1', '0, 0'))}]")
                self.places += [f"{q}[{i}]" for i in (1, 2, 3)]
                self.rates += [f"{q}'[{i}]" for i in (1, 2, 3)]
            else:
                k = rng.choice((1, 2, 3, 6))
                self.add(f"config {q} in {rng.choice(('R', 'S1'))} [{k}]")
                self.places += [f"{q}[{i + 1}]" for i in range(k)]
                self.rates += [f"{q}'[{i + 1}]" for i in range(k)]

    def energy(self):
        rng = self.rng
        weight = lambda: rng.choice(("1", "2", "0.5", "1e-8", "1e6", *self.params, f"(2 + sin({rng.choice(self.places)}))"))
        terms = [f"{weight()}*{v}^2/2" for v in self.rates]
        terms += [f"0.1*{rng.choice(self.rates)}*{rng.choice(self.rates)}" for _ in range(rng.choice((0, 0, 1, 2)))]
        terms += [f"{rng.choice(self.rates)}*({self.any(1)})" for _ in range(rng.choice((0, 0, 0, 1)))]
        self.add("lagrangian " + " + ".join(terms) + f" - ({self.any(rng.choice((0, 1, 2, 3)))})")

    def rest(self):
        rng, q, v = self.rng, lambda: self.rng.choice(self.places), lambda: self.rng.choice(self.rates)
        event, section, observable = self.name(), self.name(), self.name()
        wiener = self.name()
        noisy = rng.random() < 0.25
        every = [lambda: f"constraint {v()} = ({self.any(1)})*{v()}", lambda: f"constraint sin({q()})*{v()} = cos({q()})*{v()}",
                 lambda: f"constraint {self.name()}: {v()} + {self.any(1)}*{v()} = {rng.choice(('0', '0.1', 't', 'sin(t)'))}",
                 lambda: f"holonomic {self.name()}: {q()}^2 + {q()}^2 = {rng.choice(VALUES)}", lambda: f"relation {q()} = {self.any(1)}",
                 lambda: f"force {v()} = {self.any(2, True)}", lambda: f"force {v()} = -{rng.choice(VALUES)}*sign({v()})",
                 lambda: f"force {v()} = -abs({v()})*{v()}", lambda: f"friction {v()} = {rng.choice(VALUES)}",
                 lambda: f"frame {self.name()} = {v()} + {v()}", lambda: f"domain {q()} in -{rng.choice(VALUES)}..{rng.choice(VALUES)}",
                 lambda: f"guess {q()} = {rng.choice(VALUES)}", lambda: f"start {q()} = {rng.choice(VALUES)}", lambda: f"start {v()} = {rng.choice(VALUES)}",
                 lambda: f"event {event}: {self.any(2, True)} = {rng.choice(VALUES)}{rng.choice(('', ' rising', ' terminal', ' cuts'))}",
                 lambda: f"section {section}: {self.any(1, True)} = {rng.choice(VALUES)}", lambda: f"observable {observable} = {self.any(3, True)}",
                 lambda: f"candidate {self.name()} = {self.any(2, True)}", lambda: f"generator {self.name()}: {v()} = {self.any(1)}",
                 lambda: f"let {self.name()} = {self.any(3)}", lambda: f"draw point [{q()}, {self.any(1)}]", lambda: f"draw ball({rng.choice(VALUES)}) at [{q()}, {q()}, 0]",
                 lambda: f"draw arrow [{v()}, energy] at [{q()}, 0]", lambda: f"reference {self.name()} {string(rng)}",
                 lambda: f"expect {q()} at 0.1 = {rng.choice(VALUES)} within {rng.choice(VALUES)}", lambda: f"expect energy constant within {rng.choice(VALUES)} over 0.1"]
        if noisy:
            n = self.name()
            every += [lambda: f"noise {wiener} force {v()} = {self.any(1, True)}", lambda: f"noise {wiener} transport {v()} = {self.any(1)}",
                      lambda: f"noise {wiener} potential {self.any(2)}", lambda: f"temperature {rng.choice(VALUES)}",
                      lambda: f"process {n} drift {self.any(1, True)}\nnoise {wiener} process {n} = {rng.choice(VALUES)}"] * 3
        for _ in range(rng.choice((1, 2, 3, 4, 6, 10))):
            self.add(rng.choice(every)())
        if rng.random() < 0.05:
            self.add(rng.choice(every)() + f" for i in {rng.choice(('1..3', '1..0', '0..0', '1..100000', '5..1'))}")

    def bodies(self):
        rng = self.rng
        size = lambda: rng.choice(("1", "0.5", "2", "0.1", "0.3", "0.1", "1e-3", rng.choice(VALUES)))
        names = [rng.choice(("b", "stone", "ball", "int", "x", "end")) + str(k) for k in range(rng.choice((1, 1, 1, 2, 3)))]
        for b in names:
            shape = rng.choice((f"sphere({size()})", f"sphere({size()})", f"ellipsoid({size()}, {size()}, {size()})", f"disk({size()})", f"torus({size()}, {size()})",
                                f"cylinder({size()}, {size()})", f"point([0, 0, -{size()}])", f"revolution(theta: {size()} + {size()}*cos(theta), 0, {size()})",
                                f"meridian(theta: {size()}*sin(theta), -cos(theta), {size()})", f"convex(X: X[1]^2 + X[2]^2/{size()} + X[3]^4 - {size()})"))
            clauses = [f"mass {size()}", f"inertia {rng.choice((size(), f'diag({size()}, {size()}, {size()})', f'[[1, {size()}, 0], [{size()}, 1, 0], [0, 0, 1]]'))}",
                       f"surface {shape}"]
            clauses += [f"centre [0, 0, {size()}]"] if rng.random() < 0.3 else []
            clauses += [f"gravity {size()}"] if rng.random() < 0.3 else []
            clauses += ["rotated rotation(e3, 0.3)"] if rng.random() < 0.1 else []
            rng.shuffle(clauses)
            self.add(f"body {b} " + " ".join(clauses))
        for b in names:
            ground = rng.choice(("on plane", "on plane", "on plane", f"inside sphere({rng.choice(('5', size()))})", f"outside sphere({size()})", f"inside cylinder({rng.choice(('5', size()))})",
                                 f"on cone({rng.choice(('0.3', 'pi/2', size()))})", f"inside bowl(rho: rho^2*{size()})", f"inside bowl(rho: abs(rho) - {size()})", f"on {rng.choice(names)}"))
            extra = rng.choice(("", "", "", f" spinning {size()}", " normal [0, 0.1, 1]", f" through [{size()}, 0, t]", " gravity 9.81", f" of {rng.choice(names)}"))
            self.add(f"{rng.choice(('roll', 'roll', 'rubber'))} {b} {ground}{extra}")
        if rng.random() < 0.2:
            a, b = rng.choice(names), rng.choice([*names, "space"])
            self.add(f"holonomic {rng.choice((f'ball({a}, e1, {b}, e2)', f'hinge({a}, e1, e3, {b}, [0, 0, 0], e3)'))}")
        for b in names:
            self.add(rng.choice((f"start {b}.theta = {size()}, {b}.psi' = {size()}", f"start {b}.omega = [1, {size()}, 0]", f"start {b}.Omega = e3", "")))
            self.add(rng.choice((f"observable {self.name()} = {b}.normal", f"event {self.name()}: {b}.slip_ratio = {size()}", f"section {self.name()}: {b}.Omega[1] = 0", "")))


def huge(rng):
    """A model whose cost is out of proportion to its text."""
    k = rng.choice((10, 30, 60, 100, 300, 1000, 5000, 100000))
    few = min(k, 400)
    begin = f"config q in R [{k}]\n"
    squares = f"lagrangian sum(i in 1..{k}, q[i]'^2)/2"
    return rng.choice((
        f"{begin}{squares} - sum(i in 1..{k}, sum(j in 1..{k}, q[i]*q[j]))",
        f"{begin}{squares} - sum(i in 1..{k}, q[i])^{rng.choice((2, 3, 50))}",
        f"{begin}lagrangian (sum(i in 1..{k}, q[i]'))^2 + sum(i in 1..{k}, q[i]'^2)",
        f"{begin}{squares}\nconstraint q[i]' = q[{k} + 1 - i]' for i in 1..{k}",
        f"{begin}{squares}\nconstraint q[i]'*q[i+1] = q[i+1]'*sin(q[i]) for i in 1..{k - 1}",
        f"{begin}{squares}\nholonomic q[i]^2 + q[i+1]^2 = 1 for i in 1..{k - 1}",
        f"{begin}{squares} - sum(i in 2..{k}, abs(q[i] - q[i-1]))",
        f"{begin}{squares}\nforce q[i]' = -sign(q[i]') for i in 1..{k}",
        f"{begin}{squares}\nnoise W force q[i]' = q[i]^2 for i in 1..{k}",
        f"{begin}{squares}\nevent e: sum(i in 1..{k}, sin(i*t)) = 0",
        f"config R in SO3 velocity w [{few}]\nlagrangian sum(i in 1..{few}, dot(w[i], w[i])) - sum(i in 2..{few}, norm(R[i]*e1 - R[i-1]*e2))",
        "config x in R\n" + "\n".join(f"let a{i} = a{i - 1}*a{i - 1} + a{i - 1}" if i else "let a0 = x" for i in range(min(k, 400))) + f"\nlagrangian x'^2/2 - a{min(k, 400) - 1}",
        "config x in R\n" + "\n".join(f"let f{i}(u) = f{i - 1}(f{i - 1}(u))" if i else "let f0(u) = sin(u)" for i in range(min(k, 40))) + f"\nlagrangian x'^2/2 - f{min(k, 40) - 1}(x)",
        "config x in R\nlagrangian x'^2/2 - " + "(if x > 0 then " * min(k, 190) + "x" + " else 1)" * min(k, 190),
        "config x in R\nlagrangian x'^2/2 - " + " + ".join(f"abs(x - {i})*max(x, {i})" for i in range(few)),
        "config x in R\nlagrangian x'^2/2 - " + "sin(" * min(k, 199) + "x" + ")" * min(k, 199),
        "config x in R\nlagrangian x'^2/2 - " + "^".join(["x"] * min(k, 190)),
        "config x in R\nlagrangian x'^2/2 - x" + "/x" * min(k, 3000),
        "config x in R\nlagrangian x'^2/2 - det(identity(12)*x + " + "[" + ", ".join("[" + ", ".join(f"sin(x*{i + j})" for j in range(12)) + "]" for i in range(12)) + "])",
        f"config x in R^{few}\nlagrangian dot(x', x')/2 - norm(x*x^T*x*x^T*x)", f"param A = zero({k}, {k})\nconfig x in R\nlagrangian x'^2/2 - trace(A)*x",
        f"param K = {k} integer\nconfig x in R^(K*K*K)\nlagrangian dot(x', x')", f"config x in R\nlagrangian x'^2*sum(i in -{k}..{k}, 1)",
        "config x in R\nlagrangian x'^2/2\n" + "\n".join(f"event e{i}: x = {i}" for i in range(few)),
        "config x in R\nlagrangian x'^2/2\n" + "\n".join(f"observable o{i} = {'o' + str(i - 1) + '^2 + x' if i else 'x'}" for i in range(few)),
        "config x in R\nlagrangian x'^2/2\n" + "\n".join(f"body b{i} mass 1 inertia 1 surface sphere(1)\nroll b{i} on plane" for i in range(min(k, 60))),
        "config x in R\nlagrangian x'^2/2\nconstraint " + " + ".join(f"(x'-{i})^3 - (x'-{i})^3" for i in range(few)) + " = 0"))


def spoil_text(rng, text):
    """Ends of lines and encodings that editors leave behind, and bytes that they would not."""
    way = rng.randrange(10)
    at = rng.randrange(len(text) + 1)
    if way == 0:
        return text.replace(b"\n", b"\r\n")
    if way == 1:
        return b"\xef\xbb\xbf" + text
    if way == 2:
        return text.rstrip(b"\n")
    if way == 3:
        return text[:at] + rng.choice((b"\0", b"\x1b[31m", b"\x07", b"\x0c", b"\x85", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x80\xae", b"\r", b"\t\t", b"\xff\xfe")) + text[at:]
    if way == 4:
        return text.decode("utf-8", "replace").encode("utf-16")
    if way == 5:
        return text.replace(b" ", b"\t")
    if way == 6:
        return b"\n" * rng.choice((1, 1000, 70000)) + text
    if way == 7:
        return text.replace(b"\n", b" # " + b"x" * rng.choice((1, 300, 9000)) + b"\n", 3)
    if way == 8:
        return text + b"# " + b"y" * rng.choice((10, 1 << 20, (1 << 20) + 9))
    return text[:at] + text[at:].replace(b"\n", b"\r", 1)


def model(rng):
    """The bytes of a model file."""
    made = Maker(rng)
    made.add(f"model {made.name()} {string(rng) if rng.random() < 0.5 else ''}")
    kind = rng.random()
    if kind < 0.12:
        made.add(huge(rng))
    else:
        for _ in range(rng.choice((0, 1, 2, 3))):
            p = made.name()
            made.add(f"param {p} = {rng.choice(VALUES)}")
            made.params.append(p)
        if kind < 0.35:
            made.bodies()
        if kind >= 0.35 or rng.random() < 0.2:
            made.coordinates()
            made.energy()
            made.rest()
    text = ("\n".join(made.lines) + "\n").encode("utf-8", "surrogatepass")
    return spoil_text(rng, text) if rng.random() < 0.06 else text


# ---- options ----

NUMBERS = ["0", "-0", "1", "-1", "1e-300", "5e-324", "1e300", "1e309", "nan", "inf", "-inf", "", " ", "1,5", "0x10", "1e", "1/3", "1/0", "2^0.5", "pi", "t", "x", "--", "1 2",
           "99999999999999999999", "1e-17", "0.1", "é", "\x1b[1m", "%n", "9" * 400, "(" * 300 + "1" + ")" * 300]
EXTREME = {
    "run": {"--t0": NUMBERS, "--t1": NUMBERS, "--dt": NUMBERS, "--rtol": NUMBERS, "--atol": NUMBERS, "--every": NUMBERS, "--max-step": NUMBERS, "--seed": NUMBERS, "--path": NUMBERS,
            "--dt-base": NUMBERS, "--threads": ["0", "-1", "1", "3", "1000", "1000000000", "x"], "--crossings": NUMBERS, "--memory": ["0", "1", "20", "60", "1e9", "x"],
            "--derive-time": ["0", "1e-9", "0.01", "1e9", "x"], "--method": ["rk4", "dop853", "gauss6", "nothing", "", "radau5", "spark3", "lie_euler", "baoab"],
            "--project": ["energy", "constraint", "observables", "energy,constraint", "x", ",", ""], "--closure": ["auto", "eliminated", "multipliers", "x"],
            "--columns": ["energy", "all", "t", ",", "x,x", "nothing", "energy[1]", "x[0]", "x[99999999999]", "x" * 5000], "--end-at": ["e", ",", "x", ""],
            "--sweep": ["x=0:1:3", "x=0:1:1", "x=0:1:0", "x=0:1:-1", "x=1:0:2", "x=0:1:1e9", "x=0:1:99999999999999999999", "x=nan:1:3", "x=0:1e309:2", "=0:1:2", "x", "x=", "x=::", "x=0:1:2:3",
                        "x=\n:1:2", "energy=0:1:2", "x=0:1:2.5", "x=sin(:1:2", "t=0:1:2"],
            "--level": ["energy=1", "energy=nan", "energy=1e300", "x=1", "energy", "=", "energy=\nlet a = 1"], "--solve": ["x", "energy", ",", "x,x"],
            "--section": ["s", "e", "", "nothing"], "--driver": ["W=t", "W=1/t", "W=", "=t", "W=t;W=t", "W=x", ";;;"], "--starts": ["m.nh", "/dev/null", "nothing.csv", ".", "/dev/full"],
            "--from": ["m.nh", "/dev/null", ".", "nothing.h5"], "-o": ["x.h5", "x.csv", "x.json", "-", "x.txt", ".", "/dev/full", "/nowhere/x.h5", "m.nh", "x" * 300 + ".csv", "a/b.h5", ".h5", ".csv"],
            "--set": ["x=1", "x=nan", "x=1/0", "x", "=", "x=", "x=[1,2,3]", "x=\nparam z = 1", "x'=1", "x[1]=2", "K=3", "t=1", "pi=3", "x=" + "(" * 500, "x=1e400", "energy=2"]}}
EXTREME["ensemble"] = {k: EXTREME["run"][k] for k in ("--t0", "--t1", "--dt", "--dt-base", "--every", "--seed", "--path", "--threads", "--columns", "--sweep", "--set", "--memory", "--from")} | {
    "--paths": ["0", "-1", "1", "2", "33", "1e9", "99999999999999999999", "x"], "--chosen": ["0:9,17", "9:0", ",", "-1", "0:99999999999", "x", "5"], "-o": ["x.h5", "x.json", "x.csv", "/dev/full", "."],
    "--passage": ["x=1", "x", "=1", "x=nan", "x=1;x=2", ";"], "--target": ["x=0.1", "x=0", "x=-1", "x=1e-300", "=1"], "--method": ["euler_heun", "rk4", "euler_heun,euler_heun", ",", "x", "baoab,obabo"]}
EXTREME["conserve"] = {"--potential": ["V=x", "V=0", "V=1/x", "V=x'", "x", "=", "V=" + "(" * 300], "--at": ["x=0", "x=nan", "x", "=", "x=1,x=2"], "--sweep": EXTREME["run"]["--sweep"][:12],
                       "--confirm": ["1", "0", "-1", "nan", "1e-300"], "--degree": ["0", "1", "2", "-1", "99", "x"], "-o": ["x.csv", "/dev/full", "x.h5", "."], "--table": ["x.csv", "/dev/full", "."]}
EXTREME["plot"] = {"--x": ["t", "x", "energy", "", "x[9]", "'"], "--y": ["energy", "x", ",", "x,,x", "'", "x[1:9]", "x[9:1]"], "--z": ["x"], "--width": NUMBERS, "--height": NUMBERS, "--font": NUMBERS,
                   "--title": TEXTS, "--units": ["t=s", "t", "=", "t='", "t=\\", "t=" + "s" * 500], "-o": ["x.svg", "x.png", "x.pdf", "x.txt", "/dev/full", "."], "--size": ["column", "page", "x"]}
EXTREME["view"] = {"--title": TEXTS, "--t1": ["1", "0", "-1", "nan"], "--paths": ["0", "1", "3", "1e9", "x"], "--seed": ["1", "x"], "-o": ["x.html", "/dev/full", ".", "x"]}


def text_of(word):
    """As an argument: tabs and ends of lines separate commands of `serve`, and no word of a command line holds a zero."""
    return word.replace("\t", " ").replace("\n", " ").replace("\0", " ")


def command(rng):
    """A verb with options nobody needs, one to three of them. What would go on for ever has an end."""
    verb = rng.choice(("run", "run", "run", "ensemble", "conserve", "plot", "view"))
    words = [verb]
    chosen = rng.sample(sorted(EXTREME[verb]), rng.choice((1, 1, 2, 3)))
    for option in chosen:
        words += [option, text_of(rng.choice(EXTREME[verb][option]))]
    if verb == "run":
        words += [w for option, w in (("--t1", ["--t1", "1"]), ("--max-steps", ["--max-steps", "300"]), ("--engine", ["--engine", "interpreted"])) if option not in chosen for w in w]
    elif verb == "ensemble":
        words += ["--engine", "interpreted", *([] if "--paths" in chosen else ["--paths", "5"]), *([] if "--dt" in chosen else ["--dt", "0.1"]), *([] if "--t1" in chosen else ["--t1", "1"])]
    elif verb in ("plot", "view") and "--t1" not in chosen:
        words += ["--t1", "1"]
    return words
