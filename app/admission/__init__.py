"""The rules of admission that every kind of evidence shares."""
