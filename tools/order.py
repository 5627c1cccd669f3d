#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""order.py [SOURCE]: two calls that build nodes in one argument list.

Compilers evaluate arguments in different orders, so the ids of the nodes, and with them what `show` and `emit` print,
would depend on the compiler that built the program. A builder is a function that returns an ag_id; those that only look
something up are listed here; a macro whose text begins with a builder is one, for the derivatives in op.def. Names such
places and exits 1."""
import pathlib
import re
import sys

LOOK_UP = {"arg", "ag_node_arg"}
NOT_CALLS = {"if", "while", "for", "switch", "return", "sizeof"}


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def code(text):
    """Without comments and the content of strings; lines stay where they are."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(\\.|[^"\\\n])*"', blank, text, flags=re.S)


def arguments(text, at):
    """The arguments of the call whose list begins at `at`."""
    depth, start, found = 1, at, []
    while at < len(text) and depth:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if text[at] == "," and depth == 1:
            found.append(text[start:at])
            start = at + 1
        at += 1
    return found + [text[start:at - 1]]


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    paths = sorted(p for folder in ("src", "tests") for p in (source / folder).rglob("*.*")
                   if p.suffix in (".c", ".h", ".def"))
    texts = {p: code(p.read_text(encoding="utf-8")) for p in paths if not p.name.endswith("_test.c")}
    builders = {m.group(1) for t in texts.values()
                for m in re.finditer(r"^(?:static |inline )*ag_id (\w+)\(", t, re.M)} - LOOK_UP
    builders |= {m.group(1) for t in texts.values() for m in re.finditer(r"^#define (\w+)\(.*?\) (\w+)\(", t, re.M)
                 if m.group(2) in builders}
    call = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
    wrong = 0
    for path, text in texts.items():
        for m in call.finditer(text):
            if m.group(1) in NOT_CALLS:
                continue
            built = [a for a in arguments(text, m.end()) if any(c.group(1) in builders for c in call.finditer(a))]
            if len(built) > 1:
                wrong += 1
                line = text.count("\n", 0, m.start()) + 1
                print(f"{path}:{line}: {m.group(1)}: {len(built)} arguments build nodes: use temporaries")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
