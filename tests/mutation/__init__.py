"""Mutation tests: `make mutate`."""
