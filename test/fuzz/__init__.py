"""Random wrong input of every kind, for as long as one likes: `make fuzz SECONDS=600`."""
