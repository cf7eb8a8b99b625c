"""plumbline from Python: boards as data frames, and results sent, tried and waited for.

    import plumbline
    frame = plumbline.board("fev-bench", "sql")
    sent = plumbline.submit("fev-bench", ["results.csv"], entrant="my-model")
    print(plumbline.wait(sent["id"])["status"])

The server is that of PLUMBLINE_SERVER, the token that of PLUMBLINE_TOKEN; `Client` and `AsyncClient` take others.
"""

from plumbline.aio import AsyncClient
from plumbline.client import Client, board, dry_run, pairs, submission, submit, wait
from plumbline.documents import Check, DryRun, Submission, Table
from plumbline.run_tables import from_mlflow

__all__ = [
    "AsyncClient",
    "Check",
    "Client",
    "DryRun",
    "Submission",
    "Table",
    "board",
    "dry_run",
    "from_mlflow",
    "pairs",
    "submission",
    "submit",
    "wait",
]
