"""Loops closed at home, on numbers: rank, independent joints, and the system of equations."""
