"""Glossary entries of registrations, submissions and snapshots. Read by `app.render.glossary`."""

from app.values.glossary_entry import Entry

EVIDENCE = (
    Entry(
        "prereg",
        "Preregistration",
        "A file that says what will be measured, registered before the run and never changed. It is addressed by "
        "the SHA-256 of its bytes, so a changed file is another registration.",
        None,
        "Nosek et al. 2018, The preregistration revolution",
    ),
    Entry(
        "witnessed",
        "Witnessed and attested",
        "Witnessed: this server itself received the preregistration at that time. Attested: a steward vouches, with "
        "evidence, that it existed before this server saw it. The two are never shown alike.",
    ),
    Entry(
        "checks",
        "Admission checks",
        "Each rule of a benchmark is applied to each submission, and the outcome is shown with its reason. "
        "Passed: the rule is met. Warned: the rule allows it, but a reader should know. Failed: the submission is not "
        "admitted.",
    ),
    Entry(
        "self_reported",
        "Self-reported",
        "Rows are what the submitter sent. Ranks and intervals are computed here from them; whether the rows are "
        "true, the server cannot know.",
    ),
    Entry(
        "status",
        "States of a submission",
        "A submission is always in one state, with the time and the reason of each it was in. Received: stored whole. "
        "Evaluated: its own averages are computed. Published: on the boards. Not admitted: stored and public with its "
        "reasons, on no board. Superseded: newer evidence of its entrants counts. Withdrawn: taken off by its owner "
        "or a steward, with the reason kept; what it had superseded does not come back.",
    ),
    Entry(
        "ownership",
        "Ownership of a name",
        "The first admitted submitter of an entrant owns its name; only the owner can supersede its results. A "
        "steward can move a name to another owner.",
    ),
    Entry(
        "snapshot",
        "Snapshot",
        "One immutable published state of a benchmark, numbered. The same inputs, manifest and code give the same "
        "numbers, byte for byte; add ?snapshot=N to any table's address to see an earlier one.",
    ),
)
