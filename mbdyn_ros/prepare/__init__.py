"""A model prepared for its equations, on numbers: bodies, their frames, coordinates, clusters."""
