"""Every setting is declared once: what the check takes is what a form offers, and a default changes nothing."""

from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.scenario import DEFAULT_ALGORITHM, scenario_from_json
from broker_core.lab.setting import CHOICE, WHOLE, Setting
from broker_core.lab.settings import LANE_SETTINGS, SEED, consumer_rate, consumers
from broker_core.lab.workload.parse import MADE_UP, record_rate, workload_settings

OF_LANES = [(model, each) for model, settings in LANE_SETTINGS.items() for each in settings]
NEEDS = {"delayed_every": {"delay_us": 1_000}, "deduplication": {"receipts": True}}


def named(given: Any) -> str:
    return given.name if isinstance(given, Setting) else str(given)


def with_setting(model: str, setting: Setting, value: object) -> dict[str, Any]:
    lane = {"model": model, setting.name: value, **(NEEDS.get(setting.name, {}) if value else {})}
    return {"lanes": [lane], "workload": {"kind": "uniform", "keys": 10, "rate": 20}, "consumers": 2}


def values(setting: Setting) -> Iterator[object]:
    if setting.kind == WHOLE:
        yield from (setting.low - 1, setting.high + 1, "1", None)
    elif setting.kind == CHOICE:
        yield from ("no such thing", [], 77)


@pytest.mark.parametrize(("model", "setting"), OF_LANES, ids=named)
def test_what_a_form_would_not_offer_is_refused_at_its_field(model: str, setting: Setting) -> None:
    for wrong in values(setting):
        with pytest.raises(CommandError) as refused:
            scenario_from_json(with_setting(model, setting, wrong))
        assert refused.value.field == f"lanes.0.{setting.name}"


@pytest.mark.parametrize("model", LANE_SETTINGS)
def test_a_default_that_is_written_out_changes_nothing(model: str) -> None:
    """All at once, but for those that cannot stand beside one another."""
    written = {
        each.name: each.default
        for each in LANE_SETTINGS[model]
        if each.default is not None and each.name != "topics"
    }
    lanes = [{"model": model}, {"model": model, **written}]
    views = []
    for lane in lanes:
        lab = Lab(scenario_from_json({"lanes": [lane], "consumers": 2, "workload": {"kind": "uniform"}}))
        lab.advance_to(8_000_000)
        lab.submit({"command_id": "x", "kind": "join", "args": {"count": 1}})
        lab.advance_to(20_000_000)
        shown = lab.view()["lanes"][model]
        views.append({name: shown[name] for name in ("consumers", "bill", "tally", "picture", "skew", "lag")})
    assert views[0] == views[1]


def test_those_of_the_lab_and_its_workload_hold_the_demo() -> None:
    demo = scenario_from_json({})
    assert (SEED.default, consumers().default, consumer_rate().default) == (
        demo.seed,
        demo.consumers,
        demo.consumer_rate,
    )
    kinds = workload_settings(DEFAULT_LIMITS)
    assert demo.workload == {
        "kind": next(iter(kinds)),
        "key": kinds["flights"][0].default,
        "rate": record_rate().default,
    }
    for kind in MADE_UP:
        written = {each.name: each.default for each in kinds[kind]}
        assert scenario_from_json({"workload": {"kind": kind}}).workload.items() >= written.items()


def test_a_command_that_changes_one_is_a_command() -> None:
    of_lab = [consumers(), consumer_rate(), SEED]
    for setting in (*of_lab, *(each for _, each in OF_LANES)):
        assert not setting.changed_by or setting.changed_by in COMMANDS, setting.name
    assert set(DEFAULT_ALGORITHM) == set(LANE_SETTINGS)
