"""Key_Shared by the rule of 3.2: a key is at one consumer at a time and in order, nothing is lost, and
newcomers wait for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.pending import Sent
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import SELECTORS, AssignRefused

KEYS = [murmur3_32(f"k{number}") for number in range(12)]


def test_a_newcomer_gets_nothing_until_all_before_its_join_is_acknowledged() -> None:
    dispatcher = KeySharedDispatcher(SELECTORS["auto_split"]())
    dispatcher.connect("a", "a", 100)
    dispatcher.publish(KEYS[:4])
    dispatcher.connect("b", "b", 100)
    assert dispatcher.recently_joined == {"b": 4}
    assert {consumer for consumer, _ in dispatcher.publish(KEYS)} == {"a"}
    dispatcher.ack([0, 1, 2])
    assert dispatcher.recently_joined == {"b": 4}
    assert {consumer for consumer, _ in dispatcher.ack([3])} >= {"b"}
    assert dispatcher.recently_joined == {}


def test_with_out_of_order_delivery_it_starts_at_once() -> None:
    dispatcher = KeySharedDispatcher(SELECTORS["auto_split"](), allows_out_of_order=True)
    dispatcher.connect("a", "a", 100)
    dispatcher.publish(KEYS[:4])
    dispatcher.connect("b", "b", 100)
    assert {consumer for consumer, _ in dispatcher.publish(KEYS)} == {"a", "b"}


def test_a_refused_consumer_changes_nothing() -> None:
    dispatcher = KeySharedDispatcher(SELECTORS["sticky"]())
    dispatcher.connect("a", "a", 1, [(0, 65535)])
    with pytest.raises(AssignRefused):
        dispatcher.connect("b", "b", 1, [(5, 6)])
    assert list(dispatcher.consumers) == ["a"]


steps = st.lists(
    st.tuples(
        st.sampled_from(["publish", "publish", "ack", "ack", "join", "leave", "flow"]), st.integers(0, 2**16)
    ),
    min_size=5,
    max_size=80,
)


@given(
    order=steps, algorithm=st.sampled_from(["auto_split", "consistent_hash"]), read_batch=st.integers(1, 9)
)
def test_laws_of_an_ordered_subscription(
    order: list[tuple[str, int]], algorithm: str, read_batch: int
) -> None:
    """By the rule of 3.2, while nobody joins in the midst of what a leaver left: see the test after this
    one."""
    obeys_the_laws(
        KeySharedDispatcher(SELECTORS[algorithm](), read_batch=read_batch), order, joins_during_replay=False
    )


def test_a_newcomer_may_get_a_leavers_message_past_an_older_one_of_its_key() -> None:
    """A gap of 3.2's rule: the replay set is older than the join, so the newcomer's limit does not hold it
    back."""
    dispatcher = KeySharedDispatcher(SELECTORS["auto_split"](), read_batch=1)
    dispatcher.publish([KEYS[0], KEYS[0]])
    dispatcher.connect("a", "a", 1)
    dispatcher.connect("b", "b", 1)
    assert dispatcher.disconnect("a") == [("b", 0)]
    assert dispatcher.connect("c", "c", 1) == [("c", 1)]


@given(
    order=steps,
    algorithm=st.sampled_from(["auto_split", "consistent_hash", "consistent_hash_current"]),
    read_batch=st.integers(1, 9),
)
def test_laws_with_draining_hashes(order: list[tuple[str, int]], algorithm: str, read_batch: int) -> None:
    obeys_the_laws(
        DrainingDispatcher(SELECTORS[algorithm](), read_batch=read_batch), order, joins_during_replay=True
    )


def obeys_the_laws(
    dispatcher: KeySharedDispatcher | DrainingDispatcher,
    order: list[tuple[str, int]],
    *,
    joins_during_replay: bool,
) -> None:
    hashes: list[int] = []
    acked: set[int] = set()
    joined = 0
    for what, number in order:
        mark_delete = dispatcher.cursor.mark_delete
        names = list(dispatcher.consumers)
        pending = sorted(
            (position, name) for name, positions in dispatcher.pending().items() for position in positions
        )
        sent: list[Sent] = []
        if what == "publish":
            new = [KEYS[(number + place) % len(KEYS)] for place in range(number % 5 + 1)]
            hashes.extend(new)
            sent = dispatcher.publish(new)
        elif what == "ack" and pending:
            position = pending[number % len(pending)][0]
            acked.add(position)
            sent = dispatcher.ack([position])
        elif what == "join" and (joins_during_replay or not len(dispatcher.replay)):
            joined += 1
            sent = dispatcher.connect(f"c{joined}", f"c{joined}", number % 7)
        elif what == "leave" and names:
            sent = dispatcher.disconnect(names[number % len(names)])
        elif what == "flow" and names:
            sent = dispatcher.flow(names[number % len(names)], number % 9)
        if isinstance(dispatcher, DrainingDispatcher) and dispatcher.unblocked and number % 2:
            sent += dispatcher.unblock()
        dispatcher.check()
        assert dispatcher.cursor.mark_delete >= mark_delete
        assert not {position for _consumer, position in sent} & acked
        last: dict[tuple[str, int], int] = {}
        for consumer, position in sent:
            assert last.get((consumer, hashes[position]), -1) < position, "a key goes to a consumer in order"
            last[consumer, hashes[position]] = position
        holders: dict[int, set[str]] = {}
        for name, positions in dispatcher.pending().items():
            assert dispatcher.consumers[name].permits >= 0
            for position in positions:
                holders.setdefault(hashes[position], set()).add(name)
        assert all(len(names) == 1 for names in holders.values()), "a key is at one consumer at a time"
    if not dispatcher.consumers:
        dispatcher.connect("last", "last", 0)
    for _round in range(len(hashes) + joined + 1):
        for name in list(dispatcher.consumers):
            dispatcher.flow(name, len(hashes) + 1)
        dispatcher.ack([position for positions in dispatcher.pending().values() for position in positions])
        if isinstance(dispatcher, DrainingDispatcher):
            dispatcher.unblock()
    assert dispatcher.cursor.backlog == 0, "nothing that was not acknowledged is lost"


@pytest.mark.parametrize("kind", [KeySharedDispatcher, DrainingDispatcher])
def test_no_more_goes_to_a_consumer_than_its_limit_of_unacknowledged_messages(
    kind: type[KeySharedDispatcher] | type[DrainingDispatcher],
) -> None:
    """Found by a seeded life: what was sent beyond the limit was taken from the permits of others."""
    dispatcher = kind(SELECTORS["auto_split"](), unacked_max=3)
    dispatcher.publish(KEYS)
    sent = dispatcher.connect("a", "a", 100)
    dispatcher.check()
    assert len(sent) == 3 and dispatcher.consumers["a"].is_blocked


@pytest.mark.parametrize("kind", [KeySharedDispatcher, DrainingDispatcher])
def test_batches_of_one_read_may_exceed_the_limit_and_permits_still_add_up(
    kind: type[KeySharedDispatcher] | type[DrainingDispatcher],
) -> None:
    dispatcher = kind(SELECTORS["auto_split"](), unacked_max=3)
    for position, hash32 in enumerate(KEYS[:3]):
        dispatcher.entries[position] = Entry(hash32, position, batch=(1, 2))
    dispatcher.cursor.end = 3
    dispatcher.connect("a", "a", 100)
    dispatcher.connect("b", "b", 50)
    dispatcher.check()
