"""The values that every floor speaks: tables, score rows, predictions, facts of a run."""
