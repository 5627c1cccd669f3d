# SPDX-License-Identifier: MIT
"""A body that turns about a fixed point in a bath, for tests of Gibbs' law: with b = 0.8/0.5 its mean height is
1/b - coth b, its mean kinetic energy 3/2 of the temperature."""
import math

TEXT = """config R in SO3 velocity Omega
let I = diag(0.7, 1, 1.4)
lagrangian 1/2*dot(Omega, I*Omega) - 0.8*dot(R*e3, e3)
friction Omega[1] = 0.7
friction Omega[2] = 0.5
friction Omega[3] = 0.9
temperature 0.5
observable height = dot(R*e3, e3), kinetic = 1/2*dot(Omega, I*Omega)
start R = rotation(e2, 1.9), Omega = [0.3, 0.1, 1.0]
"""
MEANS = {"height": 0.5 / 0.8 - 1 / math.tanh(0.8 / 0.5), "kinetic": 0.75}
