# SPDX-License-Identifier: MIT
"""What the tests of ensembles share: PROGRAM of the command line, and checks that are counted."""
import os
import sys

PROGRAM = os.path.abspath(sys.argv[1])
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)
        print("does not hold:", text)


def result():
    """The last line of a test, and its exit code."""
    print(f"{len(failures)} failures")
    return len(failures) > 0
