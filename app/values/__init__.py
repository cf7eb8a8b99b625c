"""The values that rooms hand to each other: tables, score rows, predictions, facts of a run."""
