"""Real nodes under faults, for as long as one likes: `make soak seconds=600`."""
