"""Independent joints as coordinates: how good they are, and going on in others."""
