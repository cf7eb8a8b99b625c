"""Tests of the client: `plumbline` from Python, and its wheel."""
