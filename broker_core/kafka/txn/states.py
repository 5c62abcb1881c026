"""The states of a transactional id at its coordinator, and what leads from one to another: one table.

    EMPTY ─add─► ONGOING ─commit─► PREPARE_COMMIT ─all markers written─► COMPLETE_COMMIT ─┐
      ▲             │ abort, time-out, a new producer                                     ├─ add ─► ONGOING
      │             └────► PREPARE_ABORT ─────all markers written──► COMPLETE_ABORT ──────┤
      └──────────────────────────── init ─────────────────────────────────────────────────┘

Once a prepare is in the log the outcome is decided: whoever coordinates next completes it.
Source: Kafka 3.9 core TransactionState (validPreviousStates). Its PrepareEpochFence is no record: a fence
goes straight to PREPARE_ABORT here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType


class TransactionState(Enum):
    EMPTY = "empty"
    ONGOING = "ongoing"
    PREPARE_COMMIT = "prepare_commit"
    PREPARE_ABORT = "prepare_abort"
    COMPLETE_COMMIT = "complete_commit"
    COMPLETE_ABORT = "complete_abort"


class TransactionStep(Enum):
    """INIT: InitProducerId. ADD: AddPartitionsToTxn, AddOffsetsToTxn. COMMIT, ABORT: EndTxn; ABORT also for a
    time-out or a newer producer.
    COMPLETE: every partition's leader has written its marker."""

    INIT = "init"
    ADD = "add"
    COMMIT = "commit"
    ABORT = "abort"
    COMPLETE = "complete"


S, T = TransactionState, TransactionStep
TRANSITIONS: Mapping[tuple[TransactionState, TransactionStep], TransactionState] = MappingProxyType({
    (S.EMPTY, T.INIT): S.EMPTY,
    (S.COMPLETE_COMMIT, T.INIT): S.EMPTY,
    (S.COMPLETE_ABORT, T.INIT): S.EMPTY,
    (S.EMPTY, T.ADD): S.ONGOING,
    (S.ONGOING, T.ADD): S.ONGOING,
    (S.COMPLETE_COMMIT, T.ADD): S.ONGOING,
    (S.COMPLETE_ABORT, T.ADD): S.ONGOING,
    (S.ONGOING, T.COMMIT): S.PREPARE_COMMIT,
    (S.ONGOING, T.ABORT): S.PREPARE_ABORT,
    (S.PREPARE_COMMIT, T.COMPLETE): S.COMPLETE_COMMIT,
    (S.PREPARE_ABORT, T.COMPLETE): S.COMPLETE_ABORT,
})  # fmt: skip
PREPARED = (S.PREPARE_COMMIT, S.PREPARE_ABORT)
