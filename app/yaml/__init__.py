"""A stranger's YAML, read as data and nothing else."""
