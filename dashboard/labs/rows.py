"""A lab's row, and the scenario in it."""

from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import Scenario, scenario_from_json, scenario_to_json
from dashboard import access
from dashboard.errors import Refused, in_words
from dashboard.limits import core_limits
from dashboard.models import Lab, lab_id_new, shard_of


def checked_scenario(raw: Json) -> Json:
    return scenario_to_json(readable_scenario(raw))


def readable_scenario(raw: Json) -> Scenario:
    try:
        return scenario_from_json(raw, core_limits())
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def lab_row(scenario: Json, token: str, visitor: str | None, **columns: Any) -> Lab:
    lab_id = lab_id_new()
    return Lab.objects.create(
        id=lab_id,
        shard=shard_of(lab_id),
        scenario=scenario,
        owner_hash=access.token_hash(token),
        visitor_hash=access.token_hash(visitor) if visitor else "",
        **{"rules_version": RULES_VERSION, **columns},
    )
