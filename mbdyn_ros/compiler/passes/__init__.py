"""Changes of code on its way to C: one pass a file, each from `Code` to `Code`."""
