"""Which item, task and entrant a row of predictions or labels is about.

Called by `app.kinds.predictions.read` and `app.kinds.predictions.labels`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.errors import Problem
from app.files.headers import missing_column
from app.files.vocabulary import Vocabulary
from app.kinds.predictions.cells import RowCells
from app.names import clip_for_message, complain_about_name, is_name
from app.stats.arrays import IntArray
from app.values.scores import NONE

ITEM, TASK, ENTRANT = "item", "task", "entrant"
_SHOWN = 20


class TaskNames:
    """The tasks of rows; with one known task its column may be left out. `known` None: any name is a task."""

    def __init__(self, known: Sequence[str] | None) -> None:
        self._known = known
        self._vocabulary = Vocabulary(is_name) if known is None else Vocabulary(lambda _: False, known)

    @property
    def words(self) -> tuple[str, ...]:
        """Every task, by its number."""
        return self._vocabulary.words

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield that a file does not say its tasks where there are several."""
        if TASK not in header and (self._known is None or len(self._known) != 1):
            yield missing_column(TASK, header, file)

    def read(self, cells: RowCells) -> IntArray:
        """Return each row's task, NONE where it is unknown, which is a problem."""
        if TASK not in cells.columns:
            return np.zeros(len(cells), dtype=np.int64)
        texts = cells.texts(TASK)
        codes = self._vocabulary.encode(texts)
        cells.refuse(TASK, codes == NONE, lambda at: self._complaint(texts[at].as_py()))
        return codes

    def _complaint(self, text: str | None) -> str:
        if text is None:
            return "the cell is empty"
        if self._known is None:
            return complain_about_name(text)
        listed = ", ".join(self._known[:_SHOWN]) + (", …" if len(self._known) > _SHOWN else "")
        return f"not a task with labels; there are {listed}"


class EntrantNames:
    """The entrants of rows; `field` is the form field, which names the entrant of rows that do not."""

    def __init__(self, field: str | None) -> None:
        self._field = field
        self._vocabulary = Vocabulary(is_name, () if field is None else (field,))

    @property
    def words(self) -> tuple[str, ...]:
        """Every entrant, by its number."""
        return self._vocabulary.words

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield that nothing says whose predictions these are."""
        if ENTRANT not in header and self._field is None:
            message = f"no entrant; send the form field {ENTRANT}, or a column {ENTRANT}"
            yield Problem(message, file, column=ENTRANT)

    def read(self, cells: RowCells) -> IntArray:
        """Return each row's entrant, NONE where its name is not allowed, which is a problem."""
        if ENTRANT not in cells.columns:
            return np.zeros(len(cells), dtype=np.int64)
        texts = cells.texts(ENTRANT)
        texts = texts if self._field is None else texts.fill_null(self._field)
        codes = self._vocabulary.encode(texts)
        cells.refuse(ENTRANT, codes == NONE, lambda at: complain_about_name(texts[at].as_py()))
        if self._field is not None:
            cells.refuse(
                ENTRANT, codes > 0, lambda _: f"the form field entrant says {clip_for_message(str(self._field))}"
            )
        return codes
