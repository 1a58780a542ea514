"""What a robot does: one textbook recursion a file, on CasADi symbols."""
