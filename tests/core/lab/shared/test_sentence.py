"""Which numbers of a sentence are asked again, by the sentence's code."""

from types import SimpleNamespace

import pytest

from broker_core.lab.shared.sentence import sentence_view


def params(code: str, **said) -> dict:
    sentence = {"code": code, "params": {"consumer": "c1", **said}}
    consumer = SimpleNamespace(name="c1")
    units = {"0": "c1", "1": "c2", "2": "c1", "3": "c1"}
    lane = SimpleNamespace(
        consumers={"c1": consumer},
        narrator=SimpleNamespace(sentence_now=lambda lane: sentence),
        reads=SimpleNamespace(held=lambda consumer: 7, units=lambda: units),
    )
    return sentence_view(lane, None)["params"]


@pytest.mark.parametrize("model", ["kafka", "pulsar", "rabbitmq", "tubemq"])
def test_pause_tells_what_the_consumer_holds_now(model):
    assert params(f"{model}.paused") == {"consumer": "c1", "held": 7, "partitions": 3}


def test_silent_consumer_holds_what_it_holds_now():
    assert (
        params("pulsar.crash_pending", unacked=2)["unacked"]
        == params("rabbitmq.crash_pending", unacked=2)["unacked"]
        == 7
    )
    assert params("kafka.crash_pending", partitions=2) == {"consumer": "c1", "partitions": 2}


def test_code_that_merely_ends_like_another_keeps_its_numbers():
    assert params("group.paused", held=1) == {"consumer": "c1", "held": 1}
    assert params("note.crash_pending", unacked=1) == {"consumer": "c1", "unacked": 1}
