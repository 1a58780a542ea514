"""Pictures of robots and of their motion."""
