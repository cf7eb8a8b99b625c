"""Drafts a manifest from results: the benchmark that a table or a harness's output could belong to."""
