"""A robot as C99 for other machines, as formulas, and as counts of operations."""
