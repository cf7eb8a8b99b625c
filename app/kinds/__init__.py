"""The kinds of evidence: a folder for each, from its files to its measurements."""
