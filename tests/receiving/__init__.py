"""What becomes of an upload once its files are read."""
