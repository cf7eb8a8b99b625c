"""`plumbline notify`: who is notified when a submission of one's own is published, not admitted or superseded."""

from typing import Annotated

import typer
from rich.table import Table

from plumbline.cli.output import note, say, show
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption

Number = Annotated[int, typer.Argument(help="Its number, which `plumbline notify list` shows.", min=1)]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(help="Notifications of your submissions, by webhook or e-mail.", no_args_is_help=True)
    group.command("add")(add)
    group.command("list")(list_notifications)
    group.command("confirm")(confirm)
    group.command("remove")(remove)
    app.add_typer(group, name="notify")


def add(
    address: Annotated[str, typer.Argument(help="https://…, or mailto:you@example.org.")],
    *,
    benchmark: Annotated[str | None, typer.Option(help="Only submissions to this benchmark.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="published, not_admitted, superseded; repeatable.")] = None,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Have an address notified. The secret that signs what it is sent is shown now and never again."""
    order = {"address": address, "benchmark": benchmark, "events": event or None}
    asked = {key: value for key, value in order.items() if value is not None}
    with RemoteServer(server, token) as remote:
        notification = remote.send_for_json(RemoteRequest("POST", "/notifications", json=asked, repeatable=False))
    say(f"Notification {notification['id']}: {address} is notified of {', '.join(notification['events'])}.")
    if notification["secret"] is not None:
        say(f"Its secret, shown only this once: {notification['secret']}")
    if not notification["confirmed"]:
        note(f"A code was sent there: plumbline notify confirm {notification['id']} CODE")


def list_notifications(*, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """List whom this token has notified, with what went wrong last."""
    with RemoteServer(server, token) as remote:
        notifications = remote.send_for_json(RemoteRequest("GET", "/notifications"))
    if not notifications:
        note("Nobody is notified of this token's submissions.")
        return
    table = Table("number", "address", "benchmark", "events", "confirmed", "last error")
    for each in notifications:
        confirmed, events = "yes" if each["confirmed"] else "no", ", ".join(each["events"])
        table.add_row(
            str(each["id"]), each["address"], each["benchmark"] or "all", events, confirmed, each["last_error"]
        )
    show(table)


def confirm(
    number: Number,
    code: Annotated[str, typer.Argument(help="The code that was sent to the address.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Begin to notify an address of mail."""
    with RemoteServer(server, token) as remote:
        request = RemoteRequest("POST", f"/notifications/{number}/confirm", json={"code": code}, repeatable=False)
        notification = remote.send_for_json(request)
    say(f"Notification {number}: {notification['address']} will be notified from now on.")


def remove(number: Number, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Stop notifying an address, also of what is due already."""
    with RemoteServer(server, token) as remote:
        remote.send(RemoteRequest("DELETE", f"/notifications/{number}"))
    say(f"Notification {number} is removed.")
