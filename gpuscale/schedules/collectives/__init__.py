"""Collectives as schedules: transfers of chunks, step by step; the arrays move for real."""
