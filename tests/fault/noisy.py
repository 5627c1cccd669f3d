# SPDX-License-Identifier: MIT
"""A model with noise, for the tests of this folder."""
NOISY = """model noisy
config x in R
lagrangian x'^2/2 - x^2/2
noise W force x' = 0.3
observable size = x^2 + x'^2
start x = 1
"""
