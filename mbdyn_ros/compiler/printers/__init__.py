"""Printers of code as C, once all is decided: one kind of step a file."""
