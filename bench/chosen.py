"""Which parts of a simulation a command's words choose."""

from collections.abc import Iterable


def chosen(words: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the names that are a word or, where none is, hold one, whatever the case; all of them without a word.

    Raises SystemExit for a word that chooses nothing: a simulation of nothing would end as if it had held.

    >>> chosen(["auc"], ["mean", "AUC"]), chosen(["iqm"], ["IQM of 0/1", "IQM"]), chosen([], ["mean", "AUC"])
    (['AUC'], ['IQM'], ['mean', 'AUC'])
    """
    names = list(dict.fromkeys(names))
    of_word = {word: _named(word.lower(), names) for word in words}
    if unknown := [word for word, own in of_word.items() if not own]:
        raise SystemExit(f"{', '.join(unknown)}: no such part; there are: {'; '.join(names)}")
    wanted = [name for own in of_word.values() for name in own]
    return [name for name in names if name in wanted] if of_word else names


def _named(word: str, names: list[str]) -> list[str]:
    return [name for name in names if name.lower() == word] or [name for name in names if word in name.lower()]
