"""Formulations by other authors: the same numbers by another way."""
