"""Evidence kind predictions: one number, a list or a column per class for each item."""
