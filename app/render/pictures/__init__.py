"""Pictures that are more than lines on two axes: each makes a `Figure` of a table's rows, which a template draws."""
