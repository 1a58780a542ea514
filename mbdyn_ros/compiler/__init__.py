"""Programs made into C, compiled, cached and called."""
