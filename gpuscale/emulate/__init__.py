"""Oracles: real arrays sharded, stored, sent and routed as the formulas say, and counted.

They share no algebra with the formulas.
"""
