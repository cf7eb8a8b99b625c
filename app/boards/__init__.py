"""The ranking methods: from measured evidence to the tables of a board."""
