"""Another rule for a lane, against a page: of one lane, one that it knows, and not the one it has."""

import pytest

from tests.core.lab.commands.pages import misread, of_model, page, pulsar, refused


def test_lane_is_named_before_anything_else() -> None:
    assert misread("set_algorithm", algorithm=None) == ("lane", "name the lane whose algorithm changes")
    assert misread("set_order", order=None) == ("lane", "name the lane whose order rule changes")


@pytest.mark.parametrize(
    ("algorithm", "is_one"),
    [("", False), ("x", True), ("x" * 64, True), ("x" * 65, False), (None, False), (3, False)],
)
def test_algorithm_has_an_id(algorithm: object, is_one: bool) -> None:
    expected = None if is_one else ("args.algorithm", "must be the id of an algorithm")
    assert misread("set_algorithm", lane="one", algorithm=algorithm) == expected


def test_rule_is_one_that_the_lane_knows_and_does_not_run_already() -> None:
    facts = page(one=of_model("kafka", algorithm="two"), two=of_model("tubemq"))
    assert refused(facts, "set_algorithm", lane="one", algorithm="four") == (
        "args.algorithm",
        "must be one of one, two, three",
    )
    assert refused(facts, "set_algorithm", lane="one", algorithm="two") == (
        "args.algorithm",
        "one already runs two",
    )
    assert refused(facts, "set_algorithm", lane="two", algorithm="two") is None
    assert refused(facts, "set_algorithm", lane="six", algorithm="two") == (
        "lane",
        "there is no lane six in this lab",
    )


def test_only_a_key_shared_lane_has_an_order_rule() -> None:
    facts = page(one=pulsar(), two=pulsar(order="draining"), three=of_model("kafka"))
    for lane in ("one", "three"):
        assert refused(facts, "set_order", lane=lane, order="draining") == (
            "lane",
            "only Key_Shared has an order rule",
        )


def test_order_rule_is_a_known_one_and_not_the_present_one() -> None:
    first, second = "draining", "out_of_order"
    facts = page(one=pulsar(order=first))
    assert refused(facts, "set_order", lane="one", order=first) == ("args.order", f"one already runs {first}")
    assert refused(facts, "set_order", lane="one", order=second) is None
    answer = misread("set_order", lane="one", order="any")
    assert answer is not None and answer[0] == "args.order" and first in answer[1] and second in answer[1]
    assert misread("set_order", "c1", "one", order=second) == (
        "consumer",
        "set_order does not apply to one consumer: leave this out",
    )
