"""What programs do quietly is what they do when each of their messages is a step of the world: a page shows
the same."""

import random

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.observers.in_flight import LaneTraffic
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000
LANES = {"tubemq": {}, "kafka": {"brokers": 1}, "rabbitmq": {}}
ACTS = ("join", "join", "leave", "crash", "rejoin", "pause", "resume", "slow")
END_US = 25 * SECOND


def seen(
    model: str, rate: int, life: list[tuple[int, str, int]], looks: list[int], *, is_quiet: bool
) -> list[object]:
    """What a page shows at these moments, and at the end."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_quiet:
            patch.setattr(LaneTraffic, "__post_init__", lambda self: setattr(self, "is_watched", True))
        lane = {"model": model, **LANES[model]}
        lab = Lab(
            scenario_from_json(
                {
                    "lanes": [lane],
                    "consumers": 3,
                    "consumer_rate": 17,
                    "workload": {"kind": "uniform", "keys": 50, "rate": rate},
                }
            )
        )
        views: list[object] = []
        for at_us, kind, number in sorted([*life, *((at_us, "", 0) for at_us in looks), (END_US, "", 0)]):
            lab.advance_to(at_us)
            if not kind:
                views.append(lab.view())
                continue
            consumer = None if kind == "join" else f"c{number}"
            try:
                lab.submit({"command_id": f"x{lab.position + 1}", "kind": kind, "consumer": consumer})
            except CommandError:  # no such consumer, or it is paused already
                continue
        return views


@pytest.mark.parametrize("model", list(LANES))
@pytest.mark.parametrize("seed", range(12))
def test_a_page_shows_the_same(model, seed):
    """Of seeded lives, for what two programs do in one microsecond has no order that both ways would
    share."""
    dice = random.Random(seed)
    life = sorted(
        (dice.randrange(1, 18 * SECOND), dice.choice(ACTS), dice.randint(1, 5))
        for _ in range(dice.randint(0, 6))
    )
    looks = [dice.randrange(END_US) for _ in range(dice.randint(0, 3))]
    rate = dice.choice((7, 36, 90))
    plain = seen(model, rate, life, looks, is_quiet=False)
    assert seen(model, rate, life, looks, is_quiet=True) == plain
    assert seen(model, rate, life, [], is_quiet=True) == plain[-1:], "looking leaves no trace"
