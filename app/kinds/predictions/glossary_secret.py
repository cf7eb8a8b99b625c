"""Glossary entries of labels that are a secret. Read by `app.kinds.predictions.kind`."""

from app.values.glossary_entry import Entry

SECRET = (
    Entry(
        "public_part",
        "Public part, private part",
        "Where labels are a secret a share of the items is public: their scores are shown at once. The others are "
        "private, and their scores are shown when the benchmark closes; those decide. Which item is in which part "
        "follows from a keyed hash of its name, within classes, tenths of the values, or whole groups, so that both "
        "parts are alike. What fits the public part by trying often does not fit the private one.",
        "an item is public where HMAC(key, task, item) is among the smallest share of its stratum",
        "Blum & Hardt 2015, The Ladder",
    ),
    Entry(
        "ladder",
        "Ladder",
        "A score against private labels is shown only if it is better than the best that its owner was shown, by more "
        "than the larger standard error of the two; otherwise the board shows what it showed before. It holds over all "
        "entrants, registrations and tokens of an owner. Predictions that were shown before are shown again.",
        "new − best > max(error of new, error of best)",
        "Blum & Hardt 2015, The Ladder: a reliable leaderboard for machine learning competitions",
    ),
    Entry(
        "label_rounding",
        "Digits of private labels",
        "Numbers computed from private labels are published in steps of 1, 2 or 5 times a power of ten, at least "
        "half a standard error each, and in no more significant digits than the manifest allows. Ends of intervals are "
        "rounded outwards. Anything finer is noise, but many noisy digits together would reveal the labels.",
        "step ≥ ½ standard error",
    ),
    Entry(
        "label_commitment",
        "Commitment to the labels",
        "The steward is committed to the labels from their upload on: their digest with a random salt is "
        "published at once, and is part of the digest of each snapshot. When the benchmark closes the salt is shown, "
        "and anybody can compute the digest again.",
        "SHA-256 of the lines: form, salt, public share, SHA-256 of the labels",
    ),
    Entry(
        "label_disclosure",
        "What was disclosed of the labels",
        "Each scored entrant is an answer about the labels, whatever its run is for and whatever becomes of it. The "
        "bits are an upper bound: one for each answer that was held back, log₂ 10 for each digit that was shown; "
        "nobody can learn more of classes than the public labels have.",
        "bits ≤ held back + numbers × digits × log₂ 10, and ≤ public items × log₂ classes",
    ),
)
