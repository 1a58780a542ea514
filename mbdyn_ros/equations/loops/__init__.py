"""Closed loops: their constraints, and the positions that satisfy them."""
