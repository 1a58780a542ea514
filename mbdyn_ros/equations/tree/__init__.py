"""Recursions along a tree of bodies."""
