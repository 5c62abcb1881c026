"""The view as words and figures: what the templates draw in the first frame.

Pure: a view (plain JSON of the core) and the words of one language in, plain dicts out. static/js/present.js answers the same for the
frames after the first; tests/dashboard/test_presentation.py runs both on the same views. Pictures are not here: the browser draws them
from the view that travels with the page.
"""

from collections.abc import Mapping
from typing import Any

from dashboard.formats import NONE, clock, figure, fill, number, percent, seconds
from dashboard.twins import twin

Json = dict[str, Any]
Words = Mapping[str, str]

ROWS_MAX = 24
BAR_WIDTH = 312
SEGMENTS_MAX = 4
FOUR = 4
OF_FOUR = ("start", "join", "join_many", "leave", "rejoin")     # captions that count the lanes
PRIMARY = {"pulsar": ("consistent_hash", "auto_split", "sticky"), "kafka": ("range", "sticky", "cooperative-sticky")}
# Sentences with other words where the number in them is 0
IDLE_HAS_WORDS = ("kafka.crash_pending", "kafka.paused", "kafka.crash_noticed", "tubemq.crash_pending", "tubemq.paused", "tubemq.crash_noticed")
PAUSING = ("kafka", "tubemq")      # a change stops partitions there until it is over
HUES = 7
PAINTS = 21


def paint(color: int | None) -> str:
    """The fill of a consumer's colour: seven hues, then the same with a diagonal, then with dots; it wraps after 21.

    >>> paint(1), paint(8), paint(None)
    ('var(--id-1)', 'url(#id-8)', 'none')
    """
    if color is None:
        return "none"
    place = (color - 1) % PAINTS + 1
    return f"var(--id-{place})" if place <= HUES else f"url(#id-{place})"


def present(view: Json, words: Words) -> Json:
    """Everything written on the Stage: `slots` by name, and `lanes` in the view's order."""

    def say(code: str, /, **params: Any) -> str:
        return fill(words.get(code, code), params, words)

    return {
        "slots": {
            "caption": _caption(view, say),
            "sub": _sub(view, say),
            "clock": clock(view["at_us"]),
            "seed": str(view["seed"]),
            "workload": say(f"workload.{view['workload']['kind']}"),
            "key": say(f"key.{view['workload'].get('key') or 'key'}"),
            "rate": number(view["workload"]["rate"]),
            **_current(view, say),
        },
        "lanes": [_lane(rig_id, view["rigs"][rig_id], view, words, say) for rig_id in view["rig_order"]],
    }


def _caption(view: Json, say: Any) -> str:
    code, params = view["caption"]["code"], dict(view["caption"]["params"])
    if code == "join" and params.get("count", 1) > 1:
        code = "join_many"
    if params.get("by") == "demo":
        code = "join_demo"
    if code in OF_FOUR and (lanes := len(view["rig_order"])) != FOUR:
        code, params["lanes"] = f"{code}_lanes", lanes
    if params.get("rig"):
        rig = view["rigs"].get(params["rig"])
        model = rig["model"] if rig else params["rig"]
        if code != "set_algorithm":
            did = say(f"tick.{view['caption']['code']}{'_many' if params.get('count', 1) > 1 else ''}", **params)
            return str(say("caption.in_lane", did=did, lane=_own_name(say(f"rig.{model}"), params["rig"], model)))
        params["algorithm"] = say(f"{model}.{params.get('algorithm')}")
        params["rig"] = say(f"rig.{model}")
    return str(say(f"caption.{code}", **params))


def _sub(view: Json, say: Any) -> str:
    """The line below the caption: after a crash who has noticed it so far, else what flows."""
    if view["caption"]["code"] == "crash":
        return _noticed(view, say)
    workload = view["workload"]
    is_flights = workload["kind"] == "flights"
    return str(
        say(
            "sub", record_count=view["record_count"], key_count=view["key_count"], consumer_count=view["consumer_count"],
            records_noun=say("noun.flights" if is_flights else "noun.records"),
            keys_noun=say(f"noun.{workload['key']}" if is_flights else "noun.keys"),
        )
    )  # fmt: skip


def _noticed(view: Json, say: Any) -> str:
    """A crashed consumer's state tells: "crashed" until its lane has noticed, "gone" from then on."""
    name = view["caption"]["params"]["consumer"]
    noticed, waiting = [], []
    only = view["caption"]["params"].get("rig")
    for rig_id in [only] if only else view["rig_order"]:
        rig = view["rigs"][rig_id]
        consumer = rig["consumers"].get(name)
        silent = consumer is not None and consumer["state"] == "crashed"
        (waiting if silent else noticed).append(_own_name(say(f"rig.{rig['model']}"), rig_id, rig["model"]))
    if not waiting:
        return str(say("sub.noticed_by_four" if len(noticed) == FOUR else "sub.noticed_by_all"))
    code = "sub.noticed" if noticed else "sub.unnoticed"
    return str(say(code, noticed=_listed(noticed, say), waiting=_listed(waiting, say), count=len(waiting)))


def _listed(names: list[str], say: Any) -> str:
    """The names as a list in words: "Kafka, TubeMQ and RabbitMQ"."""
    *first, last = names or [""]
    return str(say("list.and", first=say("list.comma").join(first), last=last)) if first else last


def _current(view: Json, say: Any) -> Json:
    """The record that arrived last, as the strip names it."""
    last = max((int(index) for index in view["recent"]), default=None)
    slots = {"record_index": "", "record_key": "", "record_flight": "", "record_route": "", "record_when": ""}
    if last is None:
        return slots
    record = view["recent"][str(last)]
    slots |= {"record_index": f"#{number(last)}", "record_key": record["key"] or say("workload.no_key")}
    if row := record["row"]:
        _, month, day = row["date"].split("-")
        slots |= {
            "record_flight": f"{row['carrier']} {row['flight']}",
            "record_route": f"{row['origin']}–{row['dest']}",
            "record_when": say("date", day=str(int(day)), month=say(f"month.{int(month)}"), time=row["time"]),
        }
    return slots


def _lane(rig_id: str, rig: Json, view: Json, words: Words, say: Any) -> Json:
    model, route, bill = rig["model"], rig["route"], rig["bill"]
    slots = {
        "title": _own_name(say(f"lane.{model}"), rig_id, model),
        "note": _note(model, rig, say),
        "rule": say(f"{model}.{rig['algorithm']}"),
        "about": say(f"{model}.{rig['algorithm']}.about"),
        "tab": _own_name(say(f"rig.{model}"), rig_id, model),
        **_hero(rig.get("hero"), view["at_us"], say),
        "sentence": _sentence(rig, view, say),
        **_route(model, route, say),
    }
    serving = [rig["consumers"][name] for name in rig["order"]]
    serving = [consumer for consumer in serving if consumer["state"] != "gone"]
    fair = 1 / len(serving) if serving else None
    scale = _scale(rig, fair)
    # The page's first frame: its verbs act in all lanes until somebody chooses otherwise (static/js/scope.js).
    is_alone = len(view["rig_order"]) == 1
    where = say("where.one", lane=_own_name(say(f"rig.{model}"), rig_id, model)) if is_alone else say("where.all")
    hidden = [rig["consumers"][name]["share"] for name in rig["order"][ROWS_MAX:]]
    slots |= {
        "fair": _share(fair),
        "more": say("rows.more", count=len(hidden), low=percent(min(hidden), 1), high=percent(max(hidden), 1)) if hidden else "",
        "idle": _idle(rig, say),
        "empty": "" if rig["order"] else say("rows.none"),
    }
    return {
        "id": rig_id,
        "model": model,
        "slots": slots,
        "note_term": _note_term(model, rig),
        "figures": _figures(model, rig, bill, words, say),
        "tally": _tally(rig.get("tally"), words, say),
        "route_color": rig["consumers"].get(route["consumer"], {}).get("color") if route and route["consumer"] else None,
        "algorithms": _algorithms(model, rig, say),
        "fair_x": None if fair is None else figure(fair / scale * BAR_WIDTH, 1),
        "rows": [_row(rig["consumers"][name], scale, view["at_us"], words, say, where) for name in rig["order"][:ROWS_MAX]],
        "twin": twin(rig, words),
    }


def _own_name(title: str, rig_id: str, model: str) -> str:
    """A lab may hold one model twice; then the lanes tell themselves apart by their ids."""
    return title if rig_id == model else f"{title} {rig_id}"


def _note_term(model: str, rig: Json) -> str:
    """The glossary's term for the note beside the title, empty where the note is none."""
    if model != "kafka":
        return ""
    if rig["picture"]["state"] != "Stable":
        return "rebalance"
    return "" if any(item["document"] for item in rig["algorithms"] if item["id"] == rig["algorithm"]) else "generation"


def _note(model: str, rig: Json, say: Any) -> str:
    """Beside the title: what the group is doing while it is not at rest, else which rule this is."""
    if model == "kafka" and rig["picture"]["state"] != "Stable":
        return str(say(f"phase.{rig['picture']['state']}"))
    is_article = any(item["document"] for item in rig["algorithms"] if item["id"] == rig["algorithm"])
    if model == "kafka" and not is_article:
        return str(say("note.generation", generation=rig["picture"]["generation"]))
    return str(say(f"{model}.{rig['algorithm']}.note"))


def _hero(hero: Json | None, at_us: int, say: Any) -> Json:
    """The large figure and what it is of. hero: None in a view that older code has stored, until its lab moves again."""
    if hero is None:
        return {"hero": NONE, "hero_note": ""}
    code, params = hero["code"], dict(hero)
    if code == "next":
        return {"hero": say("hero.next"), "hero_note": say(f"next.{hero['way']}")}
    if "since_us" in hero:
        until_us = hero.get("until_us")
        params["lasted_us"] = max(0, (at_us if until_us is None else until_us) - hero["since_us"])
        if until_us is not None:
            code = f"was_{code}"
    if code in ("waits", "in_hands", "queued"):
        value = number(hero["lag"])
    elif code in ("empty", "keyless"):
        value = percent(1 if code == "empty" else 0)
    elif not hero["whole"]:
        return {"hero": NONE, "hero_note": say("hero.no_keys")}
    else:
        value = percent(hero["part"] / hero["whole"])
        if code in ("dark", "was_dark") and not hero["part"]:
            code = "served_none"
    return {"hero": value, "hero_note": say(f"hero.{code}", **params)}


def _tally(tally: Json | None, words: Words, say: Any) -> list[Json]:
    """The running bill since the lab began, as term, label and value; a dash where the model knows no such thing."""
    known = tally or dict.fromkeys(("keys_moved", "dark_us", "redelivered", "out_of_order"))
    values = {
        "keys_moved": known["keys_moved"], "dark": seconds(known["dark_us"], words), "redelivered": known["redelivered"],
        "out_of_order": known["out_of_order"],
    }  # fmt: skip
    return [
        {"term": term, "label": say(f"tally.{term}"), "value": value if isinstance(value, str) else NONE if value is None else number(value)}
        for term, value in values.items()
    ]


def _figures(model: str, rig: Json, bill: Json | None, words: Words, say: Any) -> list[Json]:
    """The small figures, the same four in the same places of each lane: what moved, what came twice, the pause, how even it is.

    Each is {term, label, before, value, after, reason}: `before` and `after` are muted, `reason` says why there is no figure.
    """
    known = bill or {"redelivered": None, "partitions_moved": None, "space_moved": None, "pause_us": None, "skew_before": None}

    def small(code: str, value: str, before: str = "", after: str = "") -> Json:
        reason = say("none") if value == NONE else ""
        return {"term": code, "label": say(f"figure.{code}"), "before": before, "value": value, "after": after, "reason": reason}

    def never(code: str) -> Json:
        return {**small(code, NONE), "reason": say(f"never.{model}.{code}")}

    def whole(value: int | None) -> str:
        return NONE if value is None else number(value)

    if model == "pulsar":
        figures = [small("space", percent(known["space_moved"], 1))]
    elif model == "rabbitmq":
        figures = [never("partitions")]
    else:
        total = known.get("partitions_total")
        figures = [small("partitions", whole(known["partitions_moved"]), after="" if total is None else f"/{number(total)}")]
    figures.append(small("redelivered", whole(known["redelivered"])))
    figures.append(small("pause", seconds(known["pause_us"], words)) if model in PAUSING else never("pause"))
    before = known["skew_before"]
    skew = small("skew", figure(rig["skew"], 2), before="" if before is None else f"{figure(before, 2)} →")
    figures.append({**skew, "reason": say("idle")} if rig["skew"] is None else skew)
    return figures


def _sentence(rig: Json, view: Json, say: Any) -> str:
    params = dict(rig["sentence"]["params"])
    if "deadline_us" in params:
        # Whole seconds, rounded up: it must not say 0 s while the broker still waits.
        params["left"] = _left(params["deadline_us"], view["at_us"])
    if "algorithm" in params:
        params["algorithm"] = say(f"{rig['model']}.{params['algorithm']}")
    params["who"] = say("newcomers", **params) if params.get("count", 1) > 1 else params.get("consumer")
    code = rig["sentence"]["code"]
    if code == "kafka.crash_pending" and params["deadline_us"] is None:
        code = "kafka.crash_joining"
    elif code in IDLE_HAS_WORDS and 0 in (params.get("partitions"), params.get("read_again")):
        code += "_idle"
    return str(say(code, **params))


def _idle(rig: Json, say: Any) -> str:
    """How many have nothing to do for want of a partition, and why."""
    idle = rig.get("idle")
    if not idle:
        return ""
    by_rule = rig["model"] == "kafka" and idle["of"] <= idle["partitions"]
    return str(say(f"{rig['model']}.idle{'_by_rule' if by_rule else ''}", **idle))


def _left(deadline_us: int | None, at_us: int) -> int | None:
    return None if deadline_us is None else max(0, -((at_us - deadline_us) // 1_000_000)) * 1_000_000


def _route(model: str, route: Json | None, say: Any) -> Json:
    if route is None:
        return {"route_key": say("route.none"), "route_unit": "", "route_to": ""}
    if model == "pulsar":
        unit = "" if route["hash"] is None else number(route["hash"])
    elif model == "kafka":
        unit = "" if route["unit"] is None else say("route.partition", unit=route["unit"])
    elif model == "tubemq":
        unit = route["unit"] or ""
    else:
        unit = say("route.queue") if route["place"] is None else say("route.place", place=route["place"])
    nobody = say("route.free") if model == "rabbitmq" else say("route.nobody")
    key = say("route.keyless") if route["keyless"] or route["key"] is None else route["key"]
    to = route["consumer"] or nobody
    return {"route_key": key, "route_unit": unit, "route_to": say("route.waits", to=to) if route["waits"] else to}


def _algorithms(model: str, rig: Json, say: Any) -> list[Json]:
    """Up to four rules sit on the switch, the one in use among them; the rest is under "More"."""
    offered = [
        {
            "id": item["id"], "document": item["document"], "pressed": item["id"] == rig["algorithm"],
            "label": say(f"{model}.{item['id']}"), "about": say(f"{model}.{item['id']}.about"),
        }
        for item in rig["algorithms"]
    ]  # fmt: skip
    room = SEGMENTS_MAX if len(offered) <= SEGMENTS_MAX else SEGMENTS_MAX - 1
    first = PRIMARY.get(model, ())
    shown = sorted((item["id"] for item in offered), key=lambda name: name not in first)[:room]
    if rig["algorithm"] not in shown:
        shown[-1] = rig["algorithm"]
    for item in offered:
        item["shown"] = item["id"] in shown
    return offered


def _scale(rig: Json, fair: float | None) -> float:
    """The share at the right end of the bars: two to four times the fair share, in steps so that it rests while shares drift."""
    largest = max((max(c["share"] or 0, c["share_before"] or 0) for c in rig["consumers"].values()), default=0)
    if fair and largest <= 2 * fair:
        return min(1.0, 2 * fair)
    wanted = min(largest, 4 * fair) if fair else largest
    steps = 20 if wanted > 0.1 else 100 if wanted > 0.02 else 500
    return min(1.0, -(-wanted * steps // 1) / steps) or 1.0


def _row(consumer: Json, scale: float, at_us: int, words: Words, say: Any, where: str) -> Json:
    state, share, before = consumer["state"], consumer["share"] or 0, consumer["share_before"] or 0
    width, was = (min(1, part / scale) * BAR_WIDTH for part in (share, before))
    left = _left(consumer["deadline_us"], at_us) if state == "crashed" else None
    return {
        "name": consumer["name"],
        "paint": paint(consumer["color"]),
        "state": state,
        "word": say(f"state.{state}") if state != "live" else "",
        "left": seconds(left, words) if left is not None else "",
        "arc": figure(_arc(consumer, at_us), 1) if left is not None else "",
        "share": _share(consumer["share"]),
        "rate": figure(consumer["rate"], 1),
        "width": figure(width, 1),
        "was_x": figure(width, 1),
        "was_width": figure(max(0.0, was - width), 1),
        "verbs": [{"kind": kind, "label": say(_verb(kind, state), consumer=consumer["name"], where=where)} for kind in verbs(state)],
    }


def _verb(kind: str, state: str) -> str:
    """The code of a verb's words: resume ends a pause first, then the slowness."""
    return "verb.full_speed" if kind == "resume" and state == "slow" else f"verb.{kind}"


def _share(share: float | None) -> str:
    """Whole percent, but tenths below one: among hundreds of consumers that is all there is."""
    return percent(share, 1 if share and share < 0.0095 else 0)


def _arc(consumer: Json, at_us: int) -> float:
    """How much of the countdown is left, of 100."""
    begun, deadline = consumer.get("deadline_from_us"), consumer["deadline_us"]
    if begun is None or deadline <= begun:
        return 0.0
    return 100.0 * min(1.0, max(0.0, (deadline - at_us) / (deadline - begun)))


def verbs(state: str) -> list[str]:
    """What can be done to a consumer in this state, in the order of the four columns."""
    if state in ("crashed", "gone"):
        return ["leave", "rejoin"]
    return ["leave", "crash", "resume" if state == "paused" else "pause", "resume" if state == "slow" else "slow"]
