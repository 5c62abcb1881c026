"""The committed offsets of a partition of the offsets topic, record by record: transactions, tombstones, what
readers still see."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.kafka.group.offset.store import CommittedOffset, OffsetStore
from broker_core.kafka.group.records import EndOfTransaction, OffsetCommitKey, OffsetCommitValue

T0, T1 = OffsetCommitKey("g", "t", 0), OffsetCommitKey("g", "t", 1)
OTHER = OffsetCommitKey("h", "t", 0)


def place(key: OffsetCommitKey) -> tuple[str, str, int]:
    return key.group, key.topic, key.partition


def value(offset: int) -> OffsetCommitValue:
    return OffsetCommitValue(offset, 3, "", 1_000)


class Log:
    """Records applied to a store, each at the next place of the log."""

    def __init__(self, keeps_pending: bool = False) -> None:
        self.store = OffsetStore(keeps_pending=keeps_pending)
        self.end = 0

    def commit(self, key: OffsetCommitKey, offset: int | None, producer: int = -1) -> None:
        self.store.apply(key, None if offset is None else value(offset), producer, self.end)
        self.end += 1

    def end_transaction(self, producer: int, is_committed: bool = True) -> None:
        self.store.end_transaction(EndOfTransaction(producer, 0, is_committed))
        self.end += 1

    def visible(self, key: OffsetCommitKey) -> int | None:
        found = self.store.visible.get(place(key))
        return None if found is None else found.offset


def test_later_commit_replaces_the_earlier_one_also_backwards() -> None:
    log = Log()
    log.commit(T0, 9)
    log.commit(T0, 4)
    assert log.visible(T0) == 4 and list(log.store.by_group) == ["g"]


def test_transaction_is_seen_when_it_is_committed_and_only_the_last_of_its_commits() -> None:
    log = Log()
    log.commit(T0, 5, 7)
    log.commit(T0, 6, 7)
    log.commit(OTHER, 8, 7)
    assert log.visible(T0) is None and log.store.is_pending(place(T0)) and log.store.by_group == {}
    log.end_transaction(7)
    assert (log.visible(T0), log.visible(OTHER)) == (6, 8) and not log.store.is_pending(place(T0))
    assert log.store.pending == {} and log.store.open_by_group == {}


def test_aborted_transaction_leaves_what_was_there() -> None:
    log = Log()
    log.commit(T0, 5)
    log.commit(T0, 9, 7)
    log.end_transaction(7, False)
    assert log.visible(T0) == 5 and log.store.open_by_group == {}


def test_commit_that_is_later_in_the_log_wins_whenever_the_transaction_ends() -> None:
    log = Log()
    log.commit(T0, 9, 7)
    log.commit(T0, 5)
    log.commit(T1, 5)
    log.commit(T1, 9, 7)
    log.end_transaction(7)
    assert (log.visible(T0), log.visible(T1)) == (5, 9)


@pytest.mark.parametrize("order", [(7, 8), (8, 7)])
def test_of_two_transactions_the_later_record_wins_in_whichever_order_they_end(
    order: tuple[int, int],
) -> None:
    log = Log()
    log.commit(T0, 70, 7)
    log.commit(T0, 80, 8)
    for producer in order:
        assert log.store.is_pending(place(T0))
        log.end_transaction(producer)
    assert log.visible(T0) == 80 and not log.store.is_pending(place(T0))


def test_end_of_a_transaction_that_touched_nothing_changes_nothing() -> None:
    log = Log()
    log.commit(T0, 5, 7)
    log.end_transaction(8)
    assert log.store.is_pending(place(T0)) and log.visible(T0) is None


@pytest.mark.parametrize(("keeps_pending", "after"), [(False, None), (True, 9)], ids=["new", "old"])
def test_tombstone_takes_what_transactions_hold_along_in_the_new_coordinator(
    keeps_pending: bool, after: int | None
) -> None:
    log = Log(keeps_pending)
    log.commit(T0, 5)
    log.commit(T0, 9, 7)
    log.commit(T1, 6, 7)
    log.commit(T0, None)
    assert log.visible(T0) is None and log.store.is_pending(place(T0)) is keeps_pending
    assert log.store.is_pending(place(T1)) and log.store.by_group == {}
    log.end_transaction(7)
    assert (log.visible(T0), log.visible(T1)) == (after, 6)


def test_tombstone_of_what_is_not_there_is_nothing() -> None:
    log = Log()
    log.commit(T1, 5)
    log.commit(T0, None)
    log.commit(OTHER, None)
    assert log.visible(T1) == 5 and list(log.store.by_group["g"]) == [place(T1)]


def test_places_of_open_transactions_come_transaction_by_transaction() -> None:
    log = Log()
    log.commit(T1, 5, 8)
    log.commit(T0, 5, 7)
    log.commit(T1, 6, 7)
    log.commit(OTHER, 6, 7)
    assert log.store.pending_places("g") == [place(T1), place(T0), place(T1)]
    assert log.store.pending_places("h") == [place(OTHER)] and log.store.pending_places("nobody") == []


def test_what_is_forgotten_of_a_place_leaves_the_group_open_and_what_is_forgotten_of_a_group_does_not() -> (
    None
):
    log = Log(keeps_pending=True)
    log.commit(T0, 5, 7)
    log.commit(OTHER, 6, 7)
    log.store.forget_pending(place(T0))
    assert not log.store.is_pending(place(T0)) and log.store.open_by_group == {"g": {7: None}, "h": {7: None}}
    log.store.forget_group("g")
    assert log.store.open_by_group == {"h": {7: None}}
    log.end_transaction(7)
    assert (log.visible(T0), log.visible(OTHER)) == (None, 6)


@pytest.mark.parametrize(
    ("expire_at", "base", "now", "is_expired"),
    [
        (None, 0, 99, False),
        (None, 0, 100, True),
        (None, 50, 149, False),
        (None, 50, 150, True),
        (120, 0, 119, False),
        (120, 0, 120, True),
        (120, 1_000, 120, True),
        (500, 0, 400, False),
    ],
)
def test_own_expiry_counts_instead_of_the_brokers_retention(
    expire_at: int | None, base: int, now: int, is_expired: bool
) -> None:
    assert CommittedOffset(0, 5, -1, "", 0, expire_at).is_expired(base, now, 100) is is_expired


def test_readers_see_a_place_until_its_tombstone_is_confirmed_and_not_before_its_commit_is() -> None:
    log = Log()
    log.commit(T0, 5)
    log.store.seal(1)
    log.store.commit(1)
    log.commit(T0, None)
    log.commit(T1, 6)
    log.store.seal(3)
    assert log.store.committed_places("g") == [place(T0)]
    log.commit(OTHER, 1)
    assert log.store.committed_places("h") == []
    log.store.seal(4)
    log.store.commit(4)
    assert log.store.committed_places("g") == [place(T1)] and log.store.committed_places("h") == [
        place(OTHER)
    ]


def test_offsets_never_change_before_their_record_is_in_the_log() -> None:
    log = Log()
    log.store.undo()
    log.commit(T0, 5)
    with pytest.raises(InvariantError):
        log.store.undo()


STEP = st.tuples(
    st.sampled_from(["plain", "txn", "end", "tombstone"]),
    st.integers(0, 2),
    st.sampled_from([7, 8]),
    st.booleans(),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_law_a_place_has_the_latest_record_of_those_that_count(
    steps: list[tuple[str, int, int, bool]],
) -> None:
    """Read again from the whole log: plain commits count at once, those of a transaction once it is
    committed, a tombstone voids all before."""
    log = Log()
    history: list[tuple[str, int, int, bool]] = []
    for step in steps:
        kind, number, producer, is_committed = step
        key = OffsetCommitKey("g", "t", number)
        match kind:
            case "end":
                log.end_transaction(producer, is_committed)
            case "tombstone":
                log.commit(key, None)
            case _:
                log.commit(key, log.end, producer if kind == "txn" else -1)
        history.append(step)
    for number in range(3):
        counted = None
        for at, (kind, of, producer, _) in enumerate(history):
            if kind == "end" or of != number:
                continue
            ends = next(
                (is_committed for k, _, who, is_committed in history[at:] if k == "end" and who == producer),
                False,
            )
            if kind == "tombstone":
                counted = None
            elif kind == "plain" or (ends and not _is_voided(history, at, number, producer)):
                counted = at
        assert log.visible(OffsetCommitKey("g", "t", number)) == counted


def _is_voided(history: list[tuple[str, int, int, bool]], at: int, number: int, producer: int) -> bool:
    """Whether a tombstone of the place comes before the transaction of the record at `at` ends."""
    for kind, of, who, _ in history[at:]:
        if kind == "end" and who == producer:
            return False
        if kind == "tombstone" and of == number:
            return True
    return False
