"""Kafka's recorded leader epochs against ours, with the file that holds them. All cases are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from broker_core.conformance.kafka_log import ERRORS, differing, listed
from broker_core.conformance.result import CaseResult, case, compare
from broker_core.errors import CommandError
from broker_core.kafka.log.checkpoints import LEADER_EPOCH
from broker_core.kafka.log.leader_epochs import LeaderEpochs
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.storage import Folder

Json = dict[str, Any]


def run_epoch_cache(document: Json) -> Iterator[CaseResult]:
    """The leader epochs of a partition, and their file."""
    for row in document["cases"]:
        yield case(row["name"], partial(_epochs, row))


def _epochs(row: Json) -> CaseResult:
    folder = MemoryFolder()
    epochs = LeaderEpochs(folder)
    for index, step in enumerate(row["steps"]):
        got: Json = {}
        try:
            if step["op"] == "reopen_from_file":
                epochs = LeaderEpochs(folder)
            elif step["op"] in EPOCH_QUESTIONS:
                got["answer"] = listed(EPOCH_QUESTIONS[step["op"]](epochs, *step["args"]))
            else:
                EPOCH_CHANGES[step["op"]](epochs, *step["args"])
        except CommandError as error:
            got["error"] = ERRORS[type(error)]
        got["entries"] = [list(entry) for entry in epochs.rows]
        expected = {name: step[name] for name in ("answer", "error", "entries") if name in step}
        if got != expected:
            return differing(row, index, expected, got)
    return compare(row["name"], row["checkpoint_file_after"] or "", _text(folder, LEADER_EPOCH))


def _previous_epoch(epochs: LeaderEpochs, *epoch: int) -> int | None:
    previous = epochs.previous_row(*(epoch or (epochs.latest,)))
    return None if previous is None else previous[0]


def _next_epoch(epochs: LeaderEpochs, epoch: int) -> int | None:
    after = epochs.next_row(epoch)
    return None if after is None else after[0]


EPOCH_QUESTIONS: dict[str, Callable[..., object]] = {
    "latest_epoch": lambda epochs: epochs.latest if epochs.rows else None,
    "previous_epoch": _previous_epoch,
    "next_epoch": _next_epoch,
    "earliest_entry": lambda epochs: epochs.earliest_row,
    "epoch_entry": LeaderEpochs.row_of,
    "epoch_for_offset": LeaderEpochs.epoch_of,
    "entries_in_range": LeaderEpochs.rows_between,
    "end_offset_for": LeaderEpochs.end_offset_for,
}

EPOCH_CHANGES: dict[str, Callable[..., None]] = {
    "assign": LeaderEpochs.assign,
    "assign_all": LeaderEpochs.assign_all,
    "truncate_from_end": LeaderEpochs.truncate_from_end,
    "truncate_from_start": LeaderEpochs.truncate_from_start,
    "clear_memory": LeaderEpochs.clear,
    "clear_and_flush": LeaderEpochs.clear_and_flush,
}


def _text(folder: Folder, name: str) -> str:
    """A small file's text; "" for one that was never written."""
    return folder.read(name).decode() if name in folder.names() else ""
