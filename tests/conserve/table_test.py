#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table_test.py PROGRAM MODELS.md [--print]: the table of what is conserved in docs/models.md is what `anagyre conserve`
says of every shipped model. With --print: prints the table."""
import concurrent.futures
import json
import os
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
HEAD = ["| model | energy | conserved momenta | other conserved observables | leaf, D, R | linear, quadratic; table | measure |",
        "|---|---|---|---|---|---|---|"]


def names(quantities, kind, verdict):
    return [q["name"] for q in quantities if q["kind"] == kind and q["conserved"] == verdict]


def marked(quantities, kind):
    """Names of what is conserved: with * where that is not proved, with ? where it is undecided."""
    out = []
    for q in quantities:
        if q["kind"] == kind and q["conserved"] != "no":
            out.append(q["name"] + ("?" if q["conserved"] == "undecided" else "*" if q["proof"] == "numerical" else ""))
    return ", ".join(f"`{x}`" for x in out) or "-"


def row(name):
    done = subprocess.run([PROGRAM, "conserve", name, "--json"], capture_output=True, text=True, check=True)
    r = json.loads(done.stdout)
    q, ranks, search = r["quantities"], r["reaction_annihilator"], r["search"]
    energy = next(x for x in q if x["kind"] == "energy")["conserved"]
    if any(x["kind"] == "moving energy" for x in q):
        energy += "; a moving energy is"
    three = "-" if ranks["rank"] is None else f"{ranks['dimension']}, {ranks['rank_D']}, {ranks['rank']}"
    found = f"{search['linear']}, {search['quadratic']}" if "quadratic" in search else "-"
    if "table" in r:
        found += f"; {r['table']['integrals']}"
    m = r["measure"]
    measure = {"no": "no", "undecided": "?", "yes": "volume" if m["density"] == "1" else "density"}[m["exists"]]
    return f"| `{name}` | {energy} | {marked(q, 'momentum')} | {marked(q, 'observable')} | {three} | {found} | {measure} |"


def main():
    listed = json.loads(subprocess.run([PROGRAM, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    models = [m["name"] for m in listed["models"]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        table = HEAD + list(pool.map(row, models))
    if "--print" in sys.argv:
        print("\n".join(table))
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = set(file.read().split("\n"))
    missing = [line for line in table if line not in lines]
    print("\n".join(missing) or f"{len(models)} models")
    return len(missing) > 0


if __name__ == "__main__":
    sys.exit(main())
