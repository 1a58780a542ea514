"""Through change points by inertia: an option of `simulate`, behind one hook of its runs."""
