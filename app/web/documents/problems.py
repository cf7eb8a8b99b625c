"""The JSON of a refusal: a problem document (RFC 9457) with every row that is wrong."""

from pydantic import BaseModel


class RowProblem(BaseModel):
    """One thing that is wrong, and where."""

    file: str | None
    row: int | None
    column: str | None
    value: str | None
    message: str


class ProblemCause(RowProblem):
    """How many problems have one cause, and the first of them."""

    n: int


class ProblemDocument(BaseModel):
    """An error as every address answers it."""

    title: str
    status: int
    detail: str
    problems: list[RowProblem] = []
    n_problems: int = 0
    causes: list[ProblemCause] = []
