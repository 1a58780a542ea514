"""The motion of robots: one textbook recursion a file, on CasADi symbols."""
