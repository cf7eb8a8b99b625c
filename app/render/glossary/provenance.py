"""Glossary entries of what is shown beside a score: attempts and flags. Read by `app.render.glossary`."""

from app.values.forensics import FLAGS
from app.values.glossary_entry import Entry

PROVENANCE = (
    Entry(
        "attempts",
        "Attempts",
        "How often this was tried here: the number of the submission among those of its entrant (of the same tasks, "
        "where every task is a run of its own) and among those under its registration, admitted or not; and how many "
        "registrations, entrants and submissions its owner has in the benchmark as of this publication. The best of "
        "many tries is better than a typical one, by chance alone. Dry runs are not counted: they tell nothing of a "
        "score that its sender, or any machine with the published rows, could not compute without a server, and who "
        "chooses among many runs chooses before sending any.",
    ),
    Entry(
        "flags",
        "Flags",
        "What was noticed when the evidence arrived, in words that programs can read. They are "
        + "; ".join(f"{flag}: {words[0].lower()}{words[1:]}" for flag, words in FLAGS.items())
        + ". Each has an innocent reason too; the submission's page says what was seen.",
    ),
)
