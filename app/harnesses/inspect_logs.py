"""What Inspect writes: a log of one task and one model, as `.json` or as `.eval`, a zip with a file for each sample.

Found by its entry point. A sample's item is its `id`, its seed the epoch. A score that is a letter counts as
Inspect's `value_to_float` has it: C is 1, P is 0.5, I and N are 0. A score of several values has a metric for each.
A `.eval` is read sample by sample, so that a large log is never held.
Source of the layout: inspect_ai 0.3, `inspect_ai/log/_log.py` and `log/_recorders/eval.py`.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from string import ascii_uppercase
from typing import Any

import pyarrow as pa

from app.files.uploads import ReceivedFile
from app.harnesses.contract import (
    Harness,
    HarnessRun,
    Row,
    begins_with,
    kept_text,
    listed,
    mapping,
    number,
    spoken,
    text_of,
)

EVAL = ".eval"
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
MAX_MEMBER_BYTES = 64 * 1024 * 1024
MAX_TOTAL_BYTES = 4 * 1024 * 1024 * 1024
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
OF_EVAL = ("task", "task_version", "task_id", "model", "created", "run_id", "model_args", "model_generate_config",
           "revision", "packages", "config", "task_args")  # fmt: skip
# The header before a member's bytes: 26 bytes, then the lengths of its name and of its other fields.
LOCAL_HEADER, ZSTANDARD = "<26xHH", 93
BROKEN = (
    struct.error,
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    KeyError,
    RuntimeError,
)


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is a log: by its ending, or by what a `.json` begins with."""
    if file.suffix == EVAL:
        return True
    return file.suffix == ".json" and begins_with(file, r'^\s*\{\s*"version"\s*:\s*\d', r'"eval"\s*:\s*\{')


def _logs(run: HarnessRun) -> Iterator[tuple[ReceivedFile, Mapping[str, Any], Iterator[tuple[int, Any]]]]:
    """Yield each log: its file, its header, and its samples with their places."""
    for file in run.files:
        if file.suffix == EVAL:
            yield from _zipped(run, file)
        elif (document := run.document(file)) is not None:
            yield file, document, iter(enumerate(listed(document.get("samples")), start=1))


def _zipped(run: HarnessRun, file: ReceivedFile) -> Iterator[Any]:
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = set(archive.namelist())
            if not names & {HEADER, START}:
                run.refuse(file, f"no log of Inspect: it has neither {HEADER} nor {START}")
                return
            header = json.loads(_member(archive, HEADER if HEADER in names else START))
            if HEADER not in names:
                run.refuse(file, "the log has no header: the run was broken off, or the file is not whole")
            listed_samples = sorted(name for name in names if name.startswith(SAMPLES) and name.endswith(".json"))
            yield file, mapping(header), _samples(run, file, archive, listed_samples)
    except BROKEN as error:
        run.refuse(file, f"cannot be unpacked: {error}")


def _samples(
    run: HarnessRun, file: ReceivedFile, archive: zipfile.ZipFile, names: list[str]
) -> Iterator[tuple[int, Any]]:
    total = 0
    for at, name in enumerate(names, start=1):
        total += archive.getinfo(name).file_size
        if total > MAX_TOTAL_BYTES:
            run.refuse(file, f"the samples unpack to more than {MAX_TOTAL_BYTES:,} bytes", at)
            return
        try:
            yield at, json.loads(_member(archive, name))
        except BROKEN as error:
            run.refuse(file, f"sample {name} cannot be read: {error}", at)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    about = archive.getinfo(name)
    if about.file_size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} has more than {MAX_MEMBER_BYTES:,} bytes")
    if about.compress_type == ZSTANDARD:
        return _zstandard_member(archive, about)
    with archive.open(name) as content:
        return content.read(MAX_MEMBER_BYTES)


def _zstandard_member(archive: zipfile.ZipFile, about: zipfile.ZipInfo) -> bytes:
    """Return a member that is packed with Zstandard, which Python's own zip reader unpacks from 3.14 on."""
    packed: Any = archive.fp
    packed.seek(about.header_offset)
    name_bytes, extra_bytes = struct.unpack(LOCAL_HEADER, packed.read(struct.calcsize(LOCAL_HEADER)))[-2:]
    packed.seek(name_bytes + extra_bytes, 1)
    read: bytes = pa.Codec("zstd").decompress(packed.read(about.compress_size), about.file_size, asbytes=True)
    if zlib.crc32(read) != about.CRC:
        raise ValueError(f"{about.filename} is damaged: its checksum is another")
    return read


def _head(run: HarnessRun, file: ReceivedFile, header: Mapping[str, Any]) -> tuple[str | None, str]:
    about = mapping(header.get("eval"))
    task = str(about.get("task") or "task")
    if header.get("version") != 2:
        run.warn(file, "written in another version of the log's format than 2", "version", header.get("version"))
    if header.get("status") not in (None, "success", "started"):
        run.warn(file, "the run did not succeed; its samples are what was reached", "status", header.get("status"))
    run.lacking += ["revision", "packages", "task_version"]
    for key in OF_EVAL:
        run.state(key, about.get(key), task)
    return text_of(about.get("model")), task


def items(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each sample and epoch."""
    for file, header, samples in _logs(run):
        model, task = _head(run, file, header)
        for at, sample in samples:
            fields = mapping(sample)
            scores = dict(_scores(run, mapping(fields.get("scores"))))
            epoch = fields.get("epoch")
            if not scores:
                run.warn(file, f"sample {at} has no score: it failed or was not scored", "scores", fields.get("id"))
            seed = epoch if isinstance(epoch, int) and not isinstance(epoch, bool) else 1
            item = fields.get("id")
            yield Row(file, at, model, task, scores, item, seed, {"id": item, "epoch": seed, **_said(fields)})


def _said(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked, what was expected and what was answered, as far as the sample says it."""
    answers = (spoken(mapping(score).get("answer")) for score in mapping(sample.get("scores")).values())
    answer = next((text for text in answers if text), None) or spoken(mapping(sample.get("output")).get("completion"))
    choices = (
        f"{letter}) {text}" for letter, text in zip(ascii_uppercase, listed(sample.get("choices")), strict=False)
    )
    asked = "\n".join([spoken(sample.get("input")) or "", *choices]).strip()
    return {"input": kept_text(asked) or None, "target": spoken(sample.get("target")), "answer": answer}


def _scores(run: HarnessRun, scores: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for scorer, score in scores.items():
        value = mapping(score).get("value")
        if value in ("C", "I"):
            run.directions.setdefault(scorer, "maximize")
        if isinstance(value, Mapping):
            yield from ((f"{scorer}.{name}", _value(part)) for name, part in value.items())
        elif not isinstance(value, list):
            yield scorer, _value(value)


def _value(value: Any) -> Any:
    return LETTERS.get(value, value) if isinstance(value, str) else number(value)


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each log: the metrics of its scorers, as `scorer/metric`."""
    for file, header, _ in _logs(run):
        model, task = _head(run, file, header)
        scores = {
            f"{score.get('name')}/{name}": number(mapping(metric).get("value"))
            for score in map(mapping, listed(mapping(header.get("results")).get("scores")))
            for name, metric in mapping(score.get("metrics")).items()
        }
        if not scores:
            run.refuse(file, "the log has no results: the run was broken off, or nothing was scored", column="results")
        yield Row(file, 1, model, task, scores)


INSPECT = Harness(
    name="inspect", order=2, title="Inspect", suffixes=(EVAL, ".json"), owns=owns, items=items, summary=summary
)
