"""A comparison: a lab with a lane for each way that is compared, which goes through one course and is paused at its end.

The request is a short form, and a lab of a comparison gives it back: `request_of` is its shareable address. Any other
lab gives what of its course the form can say, so that a lab's own history becomes a comparison's.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.comparing.history import ORDERS_MAX, Order, history_text, read_history, script_of
from broker_core.lab.comparing.ways import CHOSEN_MAX, WAYS, Way, chosen_ways
from broker_core.lab.fields import whole
from broker_core.lab.settings import SEED_MAX
from broker_core.lab.workload.parse import DEFAULT_RATE
from dashboard.errors import Refused, fields_of
from dashboard.labs import services
from dashboard.labs.selectors import is_comparison
from dashboard.limits import core_limits
from dashboard.models import Lab, StoredCommand
from dashboard.sentences import SENTENCES

STREAMS: Mapping[str, Json] = {
    "flights": {"kind": "flights"},
    "even": {"kind": "uniform", "keys": 200},
    "skewed": {"kind": "zipf", "keys": 200, "exponent": 1.1},
    "hot": {"kind": "hot_key", "keys": 200, "share": 0.3},
}
SECONDS = (10, 600)
DEFAULTS: Json = {
    "ways": [], "stream": "flights", "rate": DEFAULT_RATE, "consumers": 3, "consumer_rate": 15, "seconds": 60,
    "seed": 7, "history": "10 join\n25 leave c1\n40 crash c2",
}  # fmt: skip
_ORDERS = {"join", "leave", "crash", "rejoin", "pause", "resume", "slow"}
_BROKERS = {"cluster_crash": "broker_crash", "cluster_come_back": "broker_back"}


def comparison_open(*, request: Json, visitor: str | None, address: str = "") -> services.OpenedLab:
    """The lab of a comparison, on its way. request: as DEFAULTS, {lab: id, lane: id} beside it where the settings of
    that lab's lane and its stream (`stream`: "lab") are taken over.

    Raises Refused 400 at each field that is wrong, else as `lab_open`.
    """
    scenario, script = comparison_of(request)
    names = [str(SENTENCES[way_code(way_id)]) for way_id in request["ways"]]
    request = {"scenario": scenario, "name": " · ".join(names)[:64]}
    return services.lab_open(request=request, visitor=visitor, address=address, script=script)


def comparison_of(request: Json) -> tuple[Json, list[Json]]:
    """(scenario, script). Raises Refused 400 with all fields that are wrong."""
    wrong: dict[str, str] = {}

    def check(read: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return read()
        except CommandError as error:
            wrong.update(fields_of(error))
            return otherwise

    def number(name: str, low: int, high: int) -> int:
        return int(check(lambda: whole(name, _number(request.get(name)), low, high), low))

    limits = core_limits()
    ways: list[Way] = check(lambda: chosen_ways(request["ways"]), [])
    consumers = number("consumers", 0, 32)
    seconds = number("seconds", *SECONDS)
    base = _base(request)
    stream = base["stream"] if request["stream"] == "lab" and base else STREAMS.get(str(request["stream"]))
    if stream is None:
        wrong["stream"] = _("choose one of these")
    rate = number("rate", 1, 500)
    scenario: Json = {
        "name": "compare",
        "seed": number("seed", 0, SEED_MAX),
        "workload": {**(stream or {}), "rate": rate},
        "consumers": consumers,
        "consumer_rate": number("consumer_rate", 1, 1000),
        "lanes": [_lane(way, base) for way in ways],
    }
    models = [way.model for way in ways] or list({way.model for way in WAYS.values()})
    orders: list[Order] = check(
        lambda: read_history(str(request.get("history", "")), consumers, models, limits), []
    )
    script = (
        check(lambda: script_of(orders, seconds * SECOND_US, limits), []) if "seconds" not in wrong else []
    )
    if wrong:
        raise Refused(400, wrong)
    return scenario, script


def way_code(way_id: str) -> str:
    """The code of a way's words: those of a rule of its model are the rule's."""
    return f"way.{way_id}" if f"way.{way_id}" in SENTENCES else way_id


def _number(value: object) -> object:
    text = str(value).strip() if value is not None else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else text


def _base(request: Json) -> Json | None:
    """{model, settings, stream} of the lab that the comparison begins from; None without one."""
    lab = Lab.objects.filter(pk=str(request.get("lab") or "")).first() if request.get("lab") else None
    if lab is None:
        return None
    lanes = lab.scenario["lanes"]
    lane = next((lane for lane in lanes if lane["id"] == request.get("lane")), lanes[0])
    settings = {
        name: value
        for name, value in lane.items()
        if name not in ("id", "algorithm", "group_protocol", "remote_assignor")
    }
    stream = {name: value for name, value in lab.scenario["workload"].items() if name != "rate"}
    return {"model": lane["model"], "settings": settings, "stream": stream}


def _lane(way: Way, base: Json | None) -> Json:
    """The lane of a way, with the settings of the lane that the comparison begins from, if that is of its model."""
    return {**(base["settings"] if base and base["model"] == way.model else {}), **way.lane()}


def request_of(lab: Lab, lane: str | None = None, until_us: int = 0) -> Json:
    """The form that gives this comparison again; of another lab, that begins from it: its stream, its consumers, and
    what was ordered of them in this lane up to now. until_us: how far it has come."""
    scenario = lab.scenario
    stream = {name: value for name, value in scenario["workload"].items() if name != "rate"}
    plain = {"key": "tail_number"} if stream["kind"] == "flights" else {}
    known = next(
        (name for name, given in STREAMS.items() if {**plain, **given} == {**plain, **stream}), "lab"
    )
    form: Json = {
        "ways": [
            way.id for way in WAYS.values() if way.lane_id in {each["id"] for each in scenario["lanes"]}
        ],
        "stream": known,
        "rate": scenario["workload"].get("rate", DEFAULT_RATE),
        "consumers": scenario["consumers"],
        "consumer_rate": scenario["consumer_rate"],
        "seed": scenario["seed"],
    }
    if is_comparison(lab):
        order = {each["id"]: place for place, each in enumerate(scenario["lanes"])}
        form["ways"].sort(key=lambda way_id: order[WAYS[way_id].lane_id])
        seconds = lab.script[-1]["at_us"] // SECOND_US
        return {**form, "seconds": seconds, "history": history_text(lab.script)}
    own = next((each for each in scenario["lanes"] if each["id"] == lane), scenario["lanes"][0])
    form["ways"] = _ways_beside(own)
    seconds = min(SECONDS[1], max(SECONDS[0], until_us // SECOND_US + 1))
    return {
        **form,
        "lab": lab.pk,
        "lane": own["id"],
        "seconds": seconds,
        "history": "\n".join(order.to_text() for order in _ordered(lab, own, seconds * SECOND_US)),
    }


def _ways_beside(lane: Json) -> list[str]:
    """The lane's own way, and the first others of its model."""
    protocol = "server_" if lane.get("group_protocol") == "consumer" else ""
    own = f"{lane['model']}.{protocol}{lane.get('remote_assignor', 'uniform') if protocol else lane['algorithm']}"
    of_model = [way.id for way in WAYS.values() if way.model == lane["model"]]
    mine = [own] if own in WAYS else []
    wished = ["kafka.cooperative-sticky", "kafka.server_uniform"] if lane["model"] == "kafka" else []
    return list(dict.fromkeys([*mine, *wished, *of_model]))[: CHOSEN_MAX - 1]


def _ordered(lab: Lab, lane: Json, until_us: int) -> list[Order]:
    """What was done to the consumers of a lane, and to the brokers of one of Kafka, as far as the form can say it: of
    consumers with the names that newcomers get there."""
    kinds = {**{kind: kind for kind in _ORDERS}, **(_BROKERS if lane["model"] == "kafka" else {})}
    orders: list[Order] = []
    known = int(lab.scenario["consumers"])
    applied = StoredCommand.State.APPLIED
    for row in lab.commands.filter(state=applied, at_us__lt=until_us).order_by("position"):
        body, args = row.body, row.body["args"]
        if body["lane"] not in ("all", lane["id"]) or body["kind"] not in kinds:
            continue
        who, number = body["consumer"] or "", args.get("broker", args.get("rate", args.get("count")))
        if body["kind"] == "join":
            if who:
                continue
            known += number
            number = None if number == 1 else number
        elif who and not (who[1:].isdigit() and who[0] == "c" and 1 <= int(who[1:]) <= known):
            continue
        at_us = row.at_us // 1000 * 1000  # the form's times have three digits after the point
        orders.append(Order(at_us, kinds[body["kind"]], who, number))
    return orders[:ORDERS_MAX]
