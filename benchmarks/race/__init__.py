"""Our programs beside those of other libraries, in one process."""
