"""What the three forms of a preregistration share: six keys, and a rule about two of them.

Called by `app.prereg.prereg`; the readers of the forms take the names of the keys from here.
"""

from app.prereg.fields import Fields
from app.prereg.values import BootstrapMethod, FailurePolicy, Form, Prereg, RunPurpose

SHARED_KEYS = ("run_purpose", "bootstrap_method", "git_tag", "seeds", "failure_policy", "notes")
RUN_PURPOSES: tuple[RunPurpose, ...] = ("leaderboard", "power", "debug")
BOOTSTRAP_METHODS: tuple[BootstrapMethod, ...] = ("cluster", "hierarchical", "iid")
FAILURE_POLICIES: tuple[FailurePolicy, ...] = ("strict", "best_effort")

# The wording of CHAMBER's own refusal, which its users know and search for.
IID_REFUSED = "iid bootstrap is not permitted for leaderboard entries; use cluster (default) or hierarchical."


def read_shared(fields: Fields, form: Form) -> Prereg:
    """Return a preregistration with the keys that all forms share."""
    shared = Prereg(
        form=form,
        document=fields.mapping,
        run_purpose=fields.choice("run_purpose", RUN_PURPOSES, "leaderboard"),
        bootstrap_method=fields.choice("bootstrap_method", BOOTSTRAP_METHODS, "cluster"),
        failure_policy=fields.choice("failure_policy", FAILURE_POLICIES, "strict"),
        git_tag=fields.text("git_tag"),
        seeds=fields.seeds("seeds"),
        notes=_notes(fields),
    )
    refuse_iid(fields, "bootstrap_method", shared.run_purpose, shared.bootstrap_method)
    return shared


def refuse_iid(fields: Fields, key: str, run_purpose: RunPurpose, method: BootstrapMethod) -> None:
    """Refuse the iid bootstrap for the leaderboard: episodes of one seed are not independent of each other."""
    if run_purpose == "leaderboard" and method == "iid":
        fields.refuse(IID_REFUSED, key, value=method)


def _notes(fields: Fields) -> str | None:
    notes = fields.mapping.get("notes")
    if notes is not None and not isinstance(notes, str):
        fields.refuse("notes must be text", "notes", value=notes)
        return None
    return notes
