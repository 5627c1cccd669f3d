# SPDX-License-Identifier: MIT
"""Commands given to the program `serve` (serve.c), which starts once for all of them: under the sanitizers a start takes
longer than most commands."""
import os
import subprocess


class Server:
    def __init__(self, program, folder, env, at_once=1):
        """The files `out` and `err` are written in the folder; commands run in folders within it, so many of them in one
        process: leaks are reported with the last of them."""
        self.folder = folder
        self.process = subprocess.Popen([program, str(at_once)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def call(self, words, folder, seconds, megabytes=0):
        """(exit code, output, messages, processor time) of a command; the code is None where the time ran out."""
        self.process.stdin.write("\t".join([folder, str(seconds), str(megabytes), *words]) + "\n")
        self.process.stdin.flush()
        code, spent = self.process.stdout.readline().split()
        said = []
        for name in ("out", "err"):
            with open(os.path.join(self.folder, name), "rb") as file:
                said.append(file.read())
        return None if code == "hangs" else int(code), *said, float(spent)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
