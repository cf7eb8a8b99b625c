"""A stranger's files: unpacked within limits, read as columns of text."""
