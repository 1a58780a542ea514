"""The C that runs programs: compiled once for a machine, whatever programs there are."""
