"""Vectors, rotations, spatial quantities, and the complex plane."""
