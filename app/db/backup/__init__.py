"""Copies of a database: made, looked through and restored."""
