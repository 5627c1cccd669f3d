#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prose_test.py ROOT: checks the documents against the source tree.

- Lines have at most 120 columns, except in tables and code blocks.
- Relative links lead to existing files.
- Files named in backticks exist: `run/engine.c` below the root, src/ or docs/, `engine.c` anywhere in the tree.
- Names `ag_...` and `AG_...`, and functions written as `name()`, occur in the source; "`name()` in `file`" in that file.
- Documents, models and source do not use the phrases of ODD.

Placeholders (`NAME.c`, `x_test.c`), and models that the document itself defines, are not looked up."""
import os
import re
import sys

KINDS = "c|h|def|py|sh|txt|nh|md|cmake"
WIDTH = 120
ODD = re.compile(r"\b(the person|a person|how manieth|comma between|next to nothing|belongs? into|(?:is|are) told)\b")


def tree(root):
    """Paths of all files below the folders that are part of the source, relative to the root."""
    found = [f for f in os.listdir(root) if os.path.isfile(os.path.join(root, f))]
    for top in ("src", "tests", "tools", "bench", "docs", "models", "cmake"):
        for folder, _, files in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return set(found)


def identifiers(root, paths):
    """The identifiers of each source file."""
    words = {}
    for path in paths:
        if re.search(r"\.(c|h|def|cmake|py|sh)$|CMakeLists\.txt$", path):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                words[path] = set(re.findall(r"\w+", file.read()))
    return words


def prose(text):
    """(line number, line) outside of fenced and indented code blocks."""
    fenced, after_blank, code = False, True, False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
            continue
        code = line.startswith("    ") and (after_blank or code)
        after_blank = not line.strip()
        if not fenced and not code:
            yield number, line


class Checker:
    def __init__(self, root):
        self.root, self.paths, self.wrong = root, tree(root), []
        self.basenames = {os.path.basename(p) for p in self.paths}
        self.words = identifiers(root, self.paths)
        self.all_words = set().union(*self.words.values())
        self.n = 0

    def candidates(self, document, name):
        here = os.path.dirname(document)
        for top in ("", "src", "docs", here):
            path = os.path.normpath(os.path.join(top, name))
            if path in self.paths:
                yield path
        if "/" not in name:
            yield from (p for p in self.paths if os.path.basename(p) == name)

    def check_files(self, document, number, line, defined):
        for name in re.findall(rf"`([\w./-]+\.(?:{KINDS}))`", line):
            base = os.path.basename(name)
            if re.match(r"[A-Z]+\.|x(_test)?\.", base) or base in defined:
                continue
            self.n += 1
            if not any(self.candidates(document, name)):
                self.wrong.append(f"{document}:{number}: there is no file {name}")

    def check_names(self, document, number, line):
        functions = re.findall(r"`([A-Za-z_]\w*)\(\)`", line)
        for name in functions + re.findall(r"`((?:ag|AG)_\w*\w)\b(?!_?\*)", line):
            self.n += 1
            if name not in self.all_words and not name.endswith("NAME"):
                self.wrong.append(f"{document}:{number}: the source has no name {name}")
        for name, file in re.findall(rf"`(\w+)(?:\(\))?` in `([\w./-]+\.(?:{KINDS}))`", line):
            places = list(self.candidates(document, file))
            if places and not any(name in self.words.get(p, ()) for p in places):
                self.wrong.append(f"{document}:{number}: {file} has no name {name}")

    def check_links(self, document, number, line):
        for target in re.findall(r"\]\(([^)#]+)", line):
            self.n += 1
            path = os.path.join(self.root, os.path.dirname(document), target)
            if "://" not in target and not os.path.exists(path):
                self.wrong.append(f"{document}:{number}: the link {target} leads nowhere")

    def check_phrases(self):
        """Comments, messages and documents: the usual words, "the user"."""
        for path in sorted(self.paths):
            if not re.search(r"\.(c|h|def|md|nh|1)$", path):
                continue
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, 1):
                    self.wrong += [f"{path}:{number}: odd phrase: {p}" for p in ODD.findall(line)]

    def check(self, document):
        with open(os.path.join(self.root, document), encoding="utf-8") as file:
            text = file.read()
        defined = set(re.findall(r"^(?:# |/\* )(\w+\.(?:nh|c))(?: \*/)?\s*$", text, re.M))
        paragraph, start = "", 0
        for number, line in [*prose(text), (0, "")]:
            if len(line) > WIDTH and not line.startswith("|"):
                self.wrong.append(f"{document}:{number}: {len(line)} columns")
            if line.strip() and not line.startswith("|"):  # names may be split over lines
                paragraph, start = paragraph + " " + line.strip(), start or number
                continue
            for at, piece in ((start, paragraph), (number, line)):
                self.check_files(document, at, piece, defined)
                self.check_names(document, at, piece)
                self.check_links(document, at, piece)
            paragraph, start = "", 0


def main():
    checker = Checker(sys.argv[1])
    documents = sorted(p for p in checker.paths if re.fullmatch(r"\w+\.md|docs/.*\.md", p))
    for document in documents:
        checker.check(document)
    checker.check_phrases()
    print("\n".join(checker.wrong))
    print(f"{len(documents)} documents, {checker.n} names, {len(checker.wrong)} problems")
    return len(checker.wrong) > 0 or not checker.n


if __name__ == "__main__":
    sys.exit(main())
