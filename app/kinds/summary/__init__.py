"""Evidence kind evaluation_summary: a row for each entrant and task."""
