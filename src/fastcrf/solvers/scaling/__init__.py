"""Iterative scaling, and what accelerates it."""
