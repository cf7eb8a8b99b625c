"""Tallies, and the results of Tallybench, for plumbline."""
