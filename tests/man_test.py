#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man_test.py PROGRAM MANPAGE: the man page names the verbs and options that the program's help names, and no others."""
import re
import subprocess
import sys


def options(text):
    return set(re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)", text))


def main():
    program, page = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        man = file.read().replace("\\-", "-")
    help_text = subprocess.run([program, "help"], check=True, capture_output=True, text=True).stdout
    verbs = re.findall(r"^\.TP\n\.B[IR]? (\w+)", man[man.index(".SH VERBS"):man.index(".SH OPTIONS")], re.M)
    wrong = [f"the man page has no verb {v}" for v in re.findall(r"^  ([a-z]+) ", help_text, re.M) if v not in verbs]
    shown = set()
    for verb in verbs:
        done = subprocess.run([program, "help", verb], capture_output=True, text=True, check=False)
        if done.returncode:
            wrong.append(f"the program has no verb {verb}")
        # the table of options: lines that begin with one
        shown |= options("\n".join(re.findall(r"^ +(?:-\w, *)?--\S+", done.stdout, re.M)))
    named = options(man[man.index(".SH OPTIONS"):man.index(".SH EXIT STATUS")])
    wrong += [f"the man page does not name --{o}" for o in sorted(shown - named)]
    wrong += [f"the man page names --{o}, the program does not" for o in sorted(named - shown)]
    wrong += [] if verbs and shown else ["no verbs or no options found"]
    print("\n".join(wrong) or f"{len(verbs)} verbs, {len(shown)} options")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
