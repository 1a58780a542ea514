"""How long calls take, ours and those of others."""
