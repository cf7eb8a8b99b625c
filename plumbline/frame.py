"""A published table as a data frame, typed by its columns. Needs pandas, which the extra `pandas` installs."""

from typing import TYPE_CHECKING

from plumbline.documents import Table

if TYPE_CHECKING:
    import pandas as pd

DTYPES = {"integer": "Int64", "number": "float64", "flag": "boolean", "text": "string", "time": "string"}


def frame_of(table: Table) -> "pd.DataFrame":
    """Return the rows with every column, intervals too; `attrs` holds what a reader must know to trust them.

    `attrs` are `benchmark`, `snapshot`, `title`, `notes`, `meta`, and `columns`: title, unit, direction and interval by
    name. Null stays null. Raises ImportError where pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("a board as a data frame needs pandas: pip install pandas") from None
    series = {
        column["name"]: pd.Series([row[column["name"]] for row in table["rows"]], dtype=DTYPES[column["kind"]])
        for column in table["columns"]
    }
    frame = pd.DataFrame(series)
    about = {name: table.get(name) for name in ("benchmark", "snapshot", "title", "notes", "meta")}
    frame.attrs = {**about, "columns": {column["name"]: dict(column) for column in table["columns"]}}
    return frame
