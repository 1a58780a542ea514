"""Our programs against those of other libraries, in one process."""
