# SPDX-License-Identifier: MIT
"""How much of a test is run. Under the sanitizers commands take some ten times as long, and one case of each kind sees
what they can see: AG_TEST_PART, set by the build, says that one case in so many is enough."""
import os
import unittest

PART = int(os.environ.get("AG_TEST_PART", "1"))


def some(n):
    """How many of n random cases."""
    return max(1, n // PART)


def part(items):
    """Every so many of a list, the first among them."""
    return list(items)[::PART]


def numbers(test):
    """A test of long runs for what they come to: what the sanitizers see there, they see in short ones."""
    return unittest.skipIf(PART > 1, "for its numbers")(test)
