#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints src/base/power10.def: the leading 128 bits of 10^k, rounded up, for the shortest decimals of number.c."""
from fractions import Fraction

FIRST, LAST = -292, 324

print("/* SPDX-License-Identifier: MIT")
print(" * The leading 128 bits of 10^k, rounded up, k = -292 .. 324 in this order; made by power10_table.py.")
print(" * AG_POWER10(high 64 bits, low 64 bits) */")
rows = []
for k in range(FIRST, LAST + 1):
    x = Fraction(10) ** k
    e = x.numerator.bit_length() - x.denominator.bit_length()
    if x < Fraction(2) ** e:
        e -= 1
    scaled = x * Fraction(2) ** (127 - e)  # in 2^127 .. 2^128
    g = scaled.numerator // scaled.denominator + 1
    if scaled.denominator == 1:
        g = scaled.numerator  # exact
    assert 2**127 <= g < 2**128
    rows.append("AG_POWER10(0x%016x, 0x%016x)" % (g >> 64, g & (2**64 - 1)))
for i in range(0, len(rows), 2):
    print(" ".join(rows[i : i + 2]))
