"""The log: a line for each event, as JSON or for people, with the request that it belongs to and no secret in it.

`configure` is called once by each process of `app.cli`; everybody else uses `logging` or `event`, and `bind` names the
request or the job that whatever is logged belongs to.
"""

import logging
import re
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Literal

import structlog
from structlog.contextvars import bound_contextvars, get_contextvars

Form = Literal["text", "json"]
Fields = MutableMapping[str, Any]
HIDDEN = "…"
# Tokens and invitations; credentials of an address; what follows the names of secrets in headers and settings.
SECRETS = re.compile(
    r"(?P<token>pl[bi]_)[\w-]+"
    r"|(?P<address>://[^/\s:@]*:)[^@\s]+(?=@)"
    r"|(?P<named>(?i:authorization|cookie|password|pgpassword|secret|access_key|idempotency-key)\W{1,4}(?i:bearer )?)"
    r"[^\s,;'\"}]+"
)
QUIET = ("alembic", "httpx", "procrastinate", "botocore", "urllib3")


def configure(form: Form, process: str, secrets: tuple[str | None, ...] = ()) -> None:
    """Write everything that this process logs to standard error in one form; `secrets` are removed from every line."""
    known = tuple(text for text in secrets if text)

    def hide(_: Any, __: str, fields: Fields) -> Fields:
        return {name: _hidden(value, known) for name, value in fields.items()}

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_facts(process),
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, hide, _renderer(form)],
        )
    )
    # A person at a terminal wants to hear of what is wrong; a collector of logs of everything that was done.
    level = logging.INFO if form == "json" or process == "serve" else logging.WARNING
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _facts(process: str) -> list[structlog.typing.Processor]:
    def of_process(_: Any, __: str, fields: Fields) -> Fields:
        return {**fields, "process": process}

    def own_fields(_: Any, __: str, fields: Fields) -> Fields:
        record = fields.get("_record")
        return {**fields, **getattr(record, "fields", {})}

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        of_process,
        own_fields,
        # Tracebacks as text and without the values of variables, among which are tokens.
        structlog.processors.format_exc_info,
    ]


def _renderer(form: Form) -> structlog.typing.Processor:
    if form == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)

    def for_people(_: Any, __: str, fields: Fields) -> str:
        beside = " ".join(f"{name}={fields[name]}" for name in fields if name not in UNSHOWN)
        lines = [f"{fields['event']} ({beside})" if beside else str(fields["event"])]
        return "\n".join([*lines, fields["exception"]] if "exception" in fields else lines)

    return for_people


UNSHOWN = frozenset({"event", "level", "logger", "timestamp", "process", "exception"})


def _hidden(value: Any, known: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {name: _hidden(each, known) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(each, known) for each in value]
    if not isinstance(value, str):
        return value
    for secret in known:
        value = value.replace(secret, HIDDEN)
    return SECRETS.sub(lambda match: f"{next(filter(None, match.groups()), '')}{HIDDEN}", value)


def event(logger: logging.Logger, what: str, **fields: Any) -> None:
    """Log an event, with its facts as fields of the line."""
    logger.info(what, extra={"fields": fields})


@contextmanager
def bind(**fields: Any) -> Iterator[None]:
    """Have every line that is logged in the block, threads that it starts included, bear these fields."""
    with bound_contextvars(**fields):
        yield


def current_request() -> str | None:
    """Return the id of the request that is being answered, None outside of one."""
    request_id: str | None = get_contextvars().get("request_id")
    return request_id
