"""Which brokers the controller hears of: sessions by last contact, and what a heartbeat makes of a broker."""

import pytest

from broker_core.kafka.replication.sessions import BrokerControlState as S
from broker_core.kafka.replication.sessions import BrokerSessions

TIMEOUT_MS = 100


def heard(*contacts: tuple[int, int], fenced: tuple[int, ...] = ()) -> BrokerSessions:
    """(broker, when) in the order in which they were heard of."""
    sessions = BrokerSessions(TIMEOUT_MS)
    for broker, at_ms in contacts:
        sessions.touch(broker, broker in fenced, at_ms)
    return sessions


def test_exactly_the_timeout_ago_is_in_time() -> None:
    sessions = heard((1, 10))
    assert sessions.has_valid_session(1, 110) and not sessions.has_valid_session(1, 111)
    assert (sessions.stale(110), sessions.stale(111)) == (None, 1)


def test_the_one_that_was_silent_for_the_longest_time_goes_first() -> None:
    sessions = heard((1, 10), (2, 20), (3, 30), (1, 40))
    assert sessions.stale(500) == 2
    sessions.touch(2, True, 500)
    assert sessions.stale(500) == 3
    sessions.remove(3)
    assert sessions.stale(500) == 1
    sessions.touch(1, False, 500)
    assert sessions.stale(500) is None


def test_a_fenced_broker_has_no_session_and_is_not_fenced_again() -> None:
    sessions = heard((1, 10), fenced=(1,))
    assert not sessions.has_valid_session(1, 11) and sessions.stale(10_000) is None
    sessions.touch(1, False, 20)
    assert sessions.has_valid_session(1, 21)


def test_a_broker_that_nobody_has_heard_of_has_none() -> None:
    sessions = heard()
    assert not sessions.has_valid_session(1, 0)
    sessions.remove(1)  # nothing to forget
    assert sessions.last_contact_ms == {}


@pytest.mark.parametrize(
    ("is_fenced", "wants_fence", "wants_shutdown", "leads", "becomes"),
    [
        (True, False, False, False, S.UNFENCED), (True, True, False, False, S.FENCED),
        (True, False, True, False, S.SHUTDOWN_NOW), (True, True, True, True, S.SHUTDOWN_NOW),
        (False, False, False, True, S.UNFENCED), (False, True, False, True, S.FENCED),
        (False, False, True, True, S.CONTROLLED_SHUTDOWN), (False, False, True, False, S.SHUTDOWN_NOW),
        (False, True, True, True, S.SHUTDOWN_NOW),  # it may be fenced and go, though it leads
    ],
)  # fmt: skip
def test_what_a_heartbeat_makes_of_a_broker(
    is_fenced: bool, wants_fence: bool, wants_shutdown: bool, leads: bool, becomes: S
) -> None:
    sessions = heard((1, 0), fenced=(1,) if is_fenced else ())
    assert (
        sessions.next_state(1, wants_fence=wants_fence, wants_shutdown=wants_shutdown, leads=leads) is becomes
    )
