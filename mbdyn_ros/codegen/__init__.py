"""From a recursion to a compiled program of one robot."""
