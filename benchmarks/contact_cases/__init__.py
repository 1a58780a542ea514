"""Motions with contact whose end theory knows, by both of our engines and by MuJoCo."""
