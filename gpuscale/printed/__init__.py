"""Formulas as functions of numpy, printed once, so that a plan starts without sympy.

``make printed`` prints them again from the formulas, which stay the only statement of each; ``calling`` calls them.
"""
