"""Words that a drafted manifest and its check share."""

TODO = "TODO"
"""Stands where a drafted manifest waits for an answer; no manifest with one is read."""
