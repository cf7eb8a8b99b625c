"""The problems of one upload as they are found: all are counted, the first MAX_PROBLEMS are kept.

Filled by every module of `app.kinds`; `app.kinds.reader` raises what it holds.
"""

from collections.abc import Callable, Iterable, Sequence

from app.errors import MAX_PROBLEMS, Causes, EvidenceRejected, Problem


class Findings:
    """Problems in the order in which they were found."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.n_problems = 0
        self._causes = Causes()

    def add(self, problem: Problem) -> None:
        """Count one problem, and keep it while there is room."""
        self.n_problems += 1
        self._causes.count(problem)
        if len(self.kept) < MAX_PROBLEMS:
            self.kept.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add each of several problems."""
        for problem in problems:
            self.add(problem)

    def add_each(self, positions: Sequence[int], describe: Callable[[int], Problem]) -> None:
        """Count a problem for each position; `describe` is called for those that are kept, and the first of the rest.

        What it would say of the others differs in numbers and names only: they have the cause of that one.
        """
        room = MAX_PROBLEMS - len(self.kept)
        kept = [describe(position) for position in positions[:room]]
        for problem in kept:
            self._causes.count(problem)
        if len(positions) > len(kept):
            self._causes.count(describe(positions[len(kept)]), len(positions) - len(kept))
        self.kept += kept
        self.n_problems += len(positions)

    def raise_if_any(self, file_names: Sequence[str]) -> None:
        """Raise EvidenceRejected with every problem, in the order of the files and of their rows."""
        if self.n_problems == 0:
            return
        order = {name: position for position, name in enumerate(file_names)}
        ordered = sorted(self.kept, key=lambda p: (order.get(p.file or "", -1), p.row or 0))
        plural = "problem" if self.n_problems == 1 else "problems"
        raise EvidenceRejected(
            f"The evidence has {self.n_problems} {plural}; nothing was stored.",
            ordered,
            n_problems=self.n_problems,
            causes=self._causes.listed(),
        )
