"""The benchmark manifest as its steward declared it."""
