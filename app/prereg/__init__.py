"""Preregistrations: what was meant to be measured, declared before the run."""
