"""Glossary entries of multi-seed evidence: episodes, claims, registrations. Read by `app.render.glossary`."""

from app.values.glossary_entry import Entry

EPISODES = (
    Entry(
        "estimate",
        "Estimate with its interval",
        "A metric of one entrant with the interval that its own evidence supports. Every entrant is measured apart, so "
        "nobody else's results change it. Over several tasks it is the average of the tasks, each with the same weight "
        "unless the board declares others.",
        source="STATISTICS contract; Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical "
        "precipice",
    ),
    Entry(
        "cluster",
        "Cluster bootstrap",
        "Seeds are drawn with replacement, then episodes with replacement within each drawn seed. Episodes of one seed "
        "resemble each other, so treating all of them as independent makes intervals too narrow: a pooled bootstrap is "
        "refused for anything that is ranked. With fewer than two seeds there is no interval.",
        "draw S seeds, then n episodes in each drawn seed; the statistic of what was drawn",
        "Davison & Hinkley 1997, Bootstrap methods and their application, section 3.8",
    ),
    Entry(
        "iqm",
        "Interquartile mean (IQM)",
        "The mean of the middle half of the scores. A quarter is dropped at each end, rounded down, so that a few "
        "lucky or broken episodes do not decide. Of yes-or-no scores it is 0 below a quarter of successes and 1 above "
        "three quarters: read it beside the mean, which is always published too. A rate of violations is a mean unless "
        "the board declares otherwise, because what is rare would be trimmed away.",
        "sort, drop floor(n / 4) at each end, mean of the rest",
        "Agarwal et al. 2021, section 4.3",
    ),
    Entry(
        "optimality_gap",
        "Optimality gap",
        "How far scores stay below a declared threshold, on average. Scores above the threshold count as reaching it "
        "and cannot make up for others.",
        "mean(max(threshold − x, 0))",
        "Agarwal et al. 2021, section 4.3",
    ),
    Entry(
        "profile",
        "Performance profile",
        "For each threshold the share of episodes that score above it. A curve above another one everywhere is better "
        "at every level of ambition; curves that cross are not comparable by one number. The band is a pointwise "
        "interval from the same resamples.",
        "share of x > τ",
        "Dolan & Moré 2002; Agarwal et al. 2021, section 4.2",
    ),
    Entry(
        "composite",
        "Composite (HRS)",
        "A weighted mean over axes, of those that are there, with its components beside it. CHAMBER's weights are CM "
        "1.0, PF 0.9, CR 0.8, SA 0.7, OM 0.6 and AS 0.5; where an axis is missing the composite is marked as partial.",
        "Σ wᵢ sᵢ / Σ wᵢ",
    ),
    Entry("partial", "Partial", "Some of the tasks or axes that the board counts have no result of this entrant."),
    Entry(
        "labels",
        "Not a contender",
        "Shown for comparison and never ranked. An oracle reference or an upper anchor has information, or a "
        "partner, that a contender cannot have.",
    ),
    Entry(
        "counts",
        "Seeds, episodes, records, examples, failed",
        "How many seeds, episodes, records, examples or groups of them the numbers rest on. Failed ones were attempted "
        "and have no score; they are counted, and never left out of a ranking. An episode without a score that ranks "
        "counts as the worst value there is, where its registration allows one at all; so does an example without a "
        "prediction, which has a truth to be held against.",
    ),
    Entry(
        "difference",
        "Difference",
        "A minus B in the metric's own unit, with its interval. Where both were measured on the same episodes or "
        "examples the difference is taken pair by pair, which removes what both have in common.",
    ),
)

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
        "side was never delivered.",
        "supported if low ≥ threshold; not supported if high < threshold; else inconclusive",
        "CHAMBER's gap rule (20 percentage points) is one instance",
    ),
    Entry(
        "claim_status",
        "Where a claim's evidence stands",
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
        "What became of a registration",
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
