"""Which sentence a change of pace gets: whether the program works at all comes first, then how fast against
its own pace."""

import pytest

from broker_core.lab.shared.pace import ends_no_pause, pace_code
from tests.core.lab.small import consumer

MODELS = ["kafka", "pulsar", "rabbitmq", "tubemq"]
SLOW, OWN, FAST = 500_000, 100_000, 20_000


@pytest.mark.parametrize("model", MODELS)
def test_a_pause_has_a_sentence_of_each_models_own(model: str) -> None:
    assert pace_code(model, "pause", consumer("c1", "paused")) == f"{model}.paused"


@pytest.mark.parametrize(
    ("kind", "state", "service_us", "code"),
    [
        ("slow", "paused", SLOW, "paced_later"),
        ("slow", "paused", OWN, "paced_later"),
        ("slow", "live", SLOW, "slow"),
        ("slow", "live", OWN, "full_speed"),
        ("slow", "live", FAST, "fast"),
        ("resume", "live", OWN, "full_speed"),
        ("resume", "live", SLOW, "resumed_slow"),
        ("resume", "live", FAST, "fast"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_what_is_said_of_a_consumer_after_the_order(
    model: str, kind: str, state: str, service_us: int, code: str
) -> None:
    assert pace_code(model, kind, consumer("c1", state, service_us, OWN)) == code


@pytest.mark.parametrize(("state", "ends_none"), [("live", True), ("paused", False)])
def test_only_of_one_that_works_a_resume_gives_back_its_own_pace(state: str, ends_none: bool) -> None:
    assert ends_no_pause(consumer("c1", state, SLOW, OWN)) is ends_none
