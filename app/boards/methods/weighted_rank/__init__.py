"""The method `weighted_rank`: weighted ranks of metrics that are balanced over strata."""
