"""`plumbline submissions` and `plumbline withdraw`: what one has sent, and taking it back."""

from typing import Annotated

import typer
from rich.table import Table

from plumbline.cli.output import note, say, show
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("submissions")(list_submissions)
    app.command("withdraw")(withdraw)


def list_submissions(
    *,
    benchmark: Annotated[str | None, typer.Option(help="Only those to this benchmark.")] = None,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """List what this token has sent, the newest first, with its state."""
    params = None if benchmark is None else {"benchmark": benchmark}
    with RemoteServer(server, token) as remote:
        submissions = remote.send_for_json(RemoteRequest("GET", "/whoami/submissions", params=params))
    if not submissions:
        note("This token has no submissions yet.")
        return
    table = Table("submission", "benchmark", "state", "sent", "rows", "entrants")
    for each in submissions:
        named = ", ".join(each["entrants"][:3]) + (" …" if len(each["entrants"]) > 3 else "")
        state = each["status"].replace("_", " ")
        table.add_row(str(each["id"]), each["benchmark"], state, each["received_at"][:16], str(each["n_rows"]), named)
    show(table)


def withdraw(
    submission: Annotated[int, typer.Argument(help="The submission's number.", min=1)],
    *,
    reason: Annotated[str, typer.Option(help="The reason; shown permanently.")],
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Take a submission back. Its rows leave the boards; that it was there, and why it is not, stays public."""
    with RemoteServer(server, token) as remote:
        request = RemoteRequest(
            "POST", f"/submissions/{submission}/withdraw", json={"reason": reason}, repeatable=False
        )
        remote.send(request)
        say(f"Submission {submission} is withdrawn: {remote.address}/submissions/{submission}")
