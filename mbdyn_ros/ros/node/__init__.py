"""What all nodes have in common."""
