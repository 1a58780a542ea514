"""Between robotics and compiler: a program, its stages, and what they are made of."""
