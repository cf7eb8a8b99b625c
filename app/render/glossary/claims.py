"""Glossary entries of claims and registrations, of whatever kind the evidence is. Read by `app.render.glossary`."""

from app.values.glossary_entry import Entry

CLAIMS = (
    Entry(
        "claim",
        "Registered claim",
        "A statement that was registered before the run, or that the benchmark asks of everybody: in a metric, one "
        "side exceeds the other by at least a threshold. It is decided here, from the rows.",
    ),
    Entry(
        "verdict",
        "Verdict",
        "Supported: the whole interval of the difference is at the threshold or beyond. Not supported: the whole "
        "interval falls short of it. Inconclusive: the interval holds the threshold, or there is none, as where one "
        "side was never delivered; and wherever a part of what is asked is absent, or rows of one side have none of "
        "the other, because that may be what spoke against the claim.",
        "supported if low ≥ threshold; not supported if high < threshold; else inconclusive, as is all that is partial",
        "CHAMBER's gap rule (20 percentage points) is one instance",
    ),
    Entry(
        "claim_status",
        "Status of a claim's evidence",
        "Current: the evidence that decided it is on the boards. Superseded, withdrawn: it was, and the verdict stays "
        "listed. Submitting again does not remove a verdict.",
    ),
    Entry(
        "detectable",
        "Minimum detectable difference",
        "The smallest true difference that this many seeds and episodes would find with 80 % power. A claim below it "
        "was never testable with this design.",
        "(z(1 − α/2) + z(0.8)) × standard error",
        "Bloom 1995, Minimum detectable effects",
    ),
    Entry(
        "pairs",
        "Matched and unmatched pairs",
        "A pair has the same seed, episode and initial state on both sides. Episodes without a partner are counted "
        "and left out of the difference; a repeated one is refused.",
    ),
    Entry(
        "registration_outcome",
        "The outcome of a registration",
        "Reported: a submission that cites it, by who registered it, was admitted. Reported by another: only somebody "
        "else's was. Not admitted, withdrawn: one was sent, and did not last. "
        "Awaited: nothing was sent yet. Overdue: the benchmark's time for reporting has passed; never reported: it has "
        "passed twice. All registrations are public, so nobody can register ten and report the best one unseen.",
    ),
    Entry(
        "reserved",
        "Reserved names",
        "The entrants that a registration for a benchmark lists, as far as nobody owns them, are kept for its "
        "registrant for 90 days: nobody else can submit under them. At most 20 names that are not used yet are kept "
        "for one submitter, each once: neither a further registration nor the same one again prolongs it. The "
        "registrant, or a steward of the benchmark, can release a name; the first admitted submission turns it into an "
        "owned one.",
    ),
    Entry(
        "attested", "Attested", "A steward vouches for an earlier time of registration, with evidence; not witnessed."
    ),
    Entry(
        "run_purpose",
        "Run purpose",
        "Leaderboard runs are ranked. Power runs plan a sample size and debug runs try things out: both are stored and "
        "shown with their purpose, and never ranked.",
    ),
)
