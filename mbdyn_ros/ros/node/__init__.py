"""The parts that all nodes have in common."""
