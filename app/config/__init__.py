"""The settings of a server, read from its environment once at start."""
