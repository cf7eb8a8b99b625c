"""Copies of a database: made, looked through and restored, whole or to a point in time."""
