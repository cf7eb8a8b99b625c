"""The meanings of column names in tables of results: entrants, tasks, and which way a metric is better.

Read by `app.cli.drafting.roles` and `app.cli.drafting.metrics`. A name that is not here is asked about, never guessed.
"""

import re

ENTRANT = ("entrant", "model", "model_name", "model_id", "method", "algorithm", "system", "system_name", "policy",
           "policy_id", "agent", "estimator", "participant", "player", "team", "engine", "library", "framework",
           "implementation", "backend", "solver", "optimizer", "submission", "name")  # fmt: skip
TASK = ("task", "task_name", "dataset", "dataset_name", "benchmark", "problem", "problem_name", "scenario", "suite",
        "subset", "env", "environment", "workload", "domain", "language", "corpus", "subject", "endpoint")  # fmt: skip
CONDITION = ("condition", "setting", "perturbation", "variant", "difficulty", "mode")
SEED = ("seed", "random_seed", "train_seed", "training_seed", "seed_id", "run", "run_id", "trial", "repeat",
        "repetition", "replicate", "rep", "fold")  # fmt: skip
ITEM = ("item", "item_id", "doc_id", "sample_id", "example_id", "instance_id", "question_id", "query_id", "episode",
        "episode_idx", "request_id", "record_id", "sample", "example", "instance", "question", "query", "request", "id",
        "idx", "index", "uid")  # fmt: skip
# Numbers that describe a row and rank nobody.
NO_METRIC = frozenset(
    {"rank", "year", "version", "epoch", "step", "steps", "timestamp", "date", "time_stamp", "n", "count", "size",
     "params", "parameters", "num_parameters", "n_params", "n_parameters", "batch_size", "index", "idx", "id",
     "seed", "stderr", "std", "se", "ci", "n_samples", "weight"}
)  # fmt: skip
NO_METRIC_BEGINS = ("n_", "num_", "unnamed", "rank_", "stderr", "std_")
NO_METRIC_ENDS = ("_id", "_count", "_stderr", "_std", "_se", "_rank", "_seed", "_version", "_size", "_at")
# Columns of the long form, a row for each metric.
LONG_NAME = frozenset({"metric", "metric_name", "measure", "measure_name"})
LONG_VALUE = frozenset({"value", "score", "metric_value", "result"})

MAXIMIZE = frozenset(
    {"acc", "accuracy", "f1", "auc", "auroc", "auprc", "roc", "map", "mrr", "ndcg", "precision", "recall", "score",
     "success", "reward", "return", "bleu", "rouge", "rougel", "rouge1", "rouge2", "chrf", "meteor", "em", "exact",
     "match", "r2", "pass", "win", "wins", "correct", "correctness", "iou", "miou", "dice", "throughput", "fps",
     "tps", "qps", "rps", "speedup", "psnr", "ssim", "spearman", "pearson", "cosine", "correlation", "kendall",
     "hit", "hits", "mcc", "kappa", "sharpe", "likelihood", "goodput", "safety", "helpfulness", "elo", "rating",
     "points", "pass1", "acceptance"}
)  # fmt: skip
MINIMIZE = frozenset(
    {"err", "error", "errors", "loss", "rmse", "mae", "mse", "mape", "smape", "mase", "wape", "wql", "crps", "sql",
     "nll", "perplexity", "ppl", "bpb", "latency", "time", "seconds", "duration", "runtime", "elapsed", "cost",
     "costs", "price", "memory", "mem", "wer", "cer", "fid", "brier", "logloss", "energy", "regret", "distance",
     "violation", "violations", "failure", "failures", "toxicity", "lpips", "ece", "power", "watts", "joules",
     "ttft", "tpot", "delay", "overhead", "lag", "ms", "ns", "us", "usd", "hallucination", "mistakes", "collisions",
     "collision"}
)  # fmt: skip
SHARE = frozenset(
    {"acc", "accuracy", "f1", "auc", "auroc", "auprc", "precision", "recall", "em", "exact", "match", "success",
     "pass", "win", "iou", "dice", "map", "mrr", "ndcg", "brier", "ece", "wer", "correct", "correctness", "hit",
     "kendall"}
)  # fmt: skip
SIGNED = frozenset(
    {"spearman", "pearson", "cosine", "correlation", "kendall", "mcc", "kappa", "r2"}
)  # fmt: skip
UNITS = {"ms": "ms", "milliseconds": "ms", "msec": "ms", "us": "µs", "ns": "ns", "s": "s", "sec": "s", "secs": "s",
         "seconds": "s", "min": "min", "minutes": "min", "mb": "MB", "mib": "MiB", "gb": "GB", "gib": "GiB",
         "bytes": "bytes", "usd": "USD", "eur": "EUR", "joules": "J", "watts": "W", "percent": "%", "pct": "%",
         "fps": "1/s", "qps": "1/s", "rps": "1/s", "tps": "1/s"}  # fmt: skip


def tokens(name: str) -> list[str]:
    """Return the words of a column's name, in lower case.

    >>> tokens("p95LatencyMs")
    ['p95', 'latency', 'ms']
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z0-9%]+", parted.lower()) if word]


def plain(name: str) -> str:
    """Return a column's name as the lists above write it."""
    return "_".join(tokens(name))
