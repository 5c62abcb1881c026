"""The order in which a member of a sticky group writes what it has, and so the order of its list in the next
generation."""

from broker_core.kafka.assignors.protocol import StickyUserData, Subscription, TopicPartition
from broker_core.kafka.assignors.sticky import assign_sticky


def test_of_two_topics_in_one_slot_of_the_map_the_later_one_is_written_first() -> None:
    """The two names have one hash in Java. With unequal subscriptions the lists follow the user data."""
    had = StickyUserData((("Aa", 0), ("Aa", 1), ("BB", 0)), generation=1)
    group = {"c0": Subscription(("Aa", "BB"), user_data=had), "c1": Subscription(("t",))}
    assert assign_sticky(group, {"Aa": 2, "BB": 1, "t": 1})["c0"] == [("BB", 0), ("Aa", 0), ("Aa", 1)]


def test_a_topic_that_is_gone_still_had_its_place() -> None:
    """`a` and `q` share one of 16 slots; the fourteenth topic doubles the table, and they lie apart."""

    def list_of_c0(*gone: str) -> list[TopicPartition]:
        had = StickyUserData(tuple((topic, 0) for topic in ("a", "q", *gone)), generation=1)
        group = {"c0": Subscription(("a", "q"), user_data=had), "c1": Subscription(("t",))}
        return assign_sticky(group, {"a": 1, "q": 1, "t": 1})["c0"]

    assert list_of_c0() == [("q", 0), ("a", 0)]
    assert list_of_c0(*(f"gone-{number}" for number in range(12))) == [("a", 0), ("q", 0)]
