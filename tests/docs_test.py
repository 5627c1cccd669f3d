#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs_test.py PROGRAM FILE...: runs the commands that the documents show.

In blocks fenced as `sh`, every line that starts with `anagyre`, `cc` or `./` is run, in order, in one temporary folder
per document, and must end with code 0, or with N when the line ends with `# exit N`. A backslash continues a line. A block
whose first line is a comment with a file name, `# NAME.nh` or `/* NAME.c */`, is first written to that file. Other lines
are not run. pkg-config finds the library in the folder of PROGRAM."""
import os
import re
import subprocess
import sys
import tempfile


def blocks(text):
    """The fenced blocks of a document: (language, first line number, text)."""
    found, start, language, lines = [], 0, None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\S*)", line)
        if fence and language is None:
            language, start, lines = fence.group(1), number + 1, []
        elif fence:
            found.append((language, start, "\n".join(lines) + "\n"))
            language = None
        else:
            lines.append(line)
    return found


def run(command, folder, program):
    """Exit code and output of one command line, through the shell as a reader would type it."""
    home = os.path.dirname(os.path.abspath(program))
    env = {**os.environ, "PATH": home + os.pathsep + os.environ["PATH"], "PKG_CONFIG_PATH": home}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, timeout=1200,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def check(document, program):
    """Runs what one document shows: (commands run, failures)."""
    n_run = n_failed = 0
    with open(document, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        for language, start, body in blocks(text):
            named = re.match(r"(?:# |/\* )(\w+\.(?:nh|c))\s", body)
            if named:
                with open(os.path.join(folder, named.group(1)), "w", encoding="utf-8") as file:
                    file.write(body)
            if language != "sh":
                continue
            for number, line in enumerate(re.sub(r"\\\n", "  ", body).splitlines(), start):
                if not re.match(r"(anagyre|cc)\b|\./", line):
                    continue
                expected = re.search(r"# exit (\d+)\s*$", line)
                code, output = run(line, folder, program)
                n_run += 1
                if code == 3 and "built without the page" in output:
                    print(f"{document}:{number}: not run: {line} (no page in this build)")
                    continue
                if code != (int(expected.group(1)) if expected else 0):
                    n_failed += 1
                    print(f"{document}:{number}: `{line}` ended with code {code}:\n{output[-2000:]}")
    return n_run, n_failed


def main():
    program, documents = sys.argv[1], sys.argv[2:]
    n_run = n_failed = 0
    for document in documents:
        run_here, failed_here = check(document, program)
        n_run, n_failed = n_run + run_here, n_failed + failed_here
    print(f"{len(documents)} documents, {n_run} commands, {n_failed} failed")
    return n_failed > 0 or n_run == 0


if __name__ == "__main__":
    sys.exit(main())
