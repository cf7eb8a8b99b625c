"""How cells are read as true or false. Read by the kinds of evidence."""

from collections.abc import Mapping

# With gaps, pandas writes a column of flags as 1.0 and 0.0.
FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("True", "true", "TRUE", "1", "1.0"), True),
    **dict.fromkeys(("False", "false", "FALSE", "0", "0.0"), False),
}
