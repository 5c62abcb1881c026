"""A run as one file that is opened again, on this site or another: scenario, seed, commands with their times, and the
version of the rules.

    {"highwater_run": 1, "rules": 57, "name": "", "scenario": {...}, "script": [{at_us, body}], "commands": [...], "at_us": 83250000}

A run of real clients is a file of its own (`highwater serve --journal FILE.highwater`): it says the same of a lab that is open
to clients (dashboard/labs/clients_run.py), and is opened the same way.

Nothing in it is believed: every part is checked as if it were sent on its own, and the worker decides each command
again on the way to the run's end, where the opened lab is paused.
"""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import parts_of_scenario
from dashboard import access
from dashboard.errors import Refused
from dashboard.formats import clock, number
from dashboard.labs import copies, services
from dashboard.labs.clients_run import lab_run
from dashboard.labs.forks import past_journal
from dashboard.labs.moment import Moment
from dashboard.labs.past.look import come_to
from dashboard.labs.room import make_room
from dashboard.labs.rows import checked_scenario, lab_row, readable_scenario
from dashboard.limits import core_limits
from dashboard.models import NAME_MAX, Lab, StoredCommand
from dashboard.stored import intact

FORMAT = 1
BYTES_MAX = 1 << 20
COMMANDS_MAX = 2_000
CLIENTS_BYTES_MAX = 4 << 20
CLIENTS_COMMANDS_MAX = 10_000
"""Of a run of real clients: each of its moments is a command."""
LASTS_US_MAX = 24 * 3600 * SECOND_US
FIELDS = ("highwater_run", "rules", "name", "scenario", "script", "commands", "at_us")
_POSITION_MAX = 10**9


def run_file(lab: Lab, moment: Moment | None) -> Json:
    """The file of a lab up to a moment; None: up to now."""
    journal = past_journal(lab)
    cut = journal.cut(come_to(lab)) if moment is None else journal.cut(moment.until_us, moment.until_position)
    return {
        "highwater_run": FORMAT,
        "rules": lab.rules_version,
        "name": lab.name,
        "scenario": intact(lab.scenario),
        "script": intact(lab.script),
        "commands": cut.commands,
        "at_us": cut.until_us,
    }


def clients_run(data: bytes, name: str) -> Json:
    """A run of real clients as `run_open` takes one. data: its file; name: of the lab. Raises Refused 400 for a file that is
    none."""
    try:
        found = lab_run(data)
    except (CommandError, RecursionError) as error:
        raise _no_run() from error
    return {"highwater_run": FORMAT, "name": name, "script": [], **found}


def run_open(
    run: Any, *, visitor: str | None = None, address: str = "", most: int = COMMANDS_MAX
) -> services.OpenedLab:
    """A lab that goes through this run again and is paused at its end. run: the file's JSON. most: commands. Raises
    Refused: 400 at `file` with what is wrong in it, 409 for a run of other rules, 429 when a quota is used up."""
    _check_kind(run)
    at_us = _whole(run.get("at_us"), LASTS_US_MAX, "at_us")
    try:
        scenario = checked_scenario(run["scenario"])
    except Refused as refused:
        raise _told(refused, "scenario") from refused
    commands = _commands(run.get("commands"), at_us, most)
    script = [_scripted(entry) for entry in _list(run.get("script"), "script")]
    name = _name(run.get("name", ""))
    with transaction.atomic():
        parts = parts_of_scenario(readable_scenario(scenario), core_limits())
        make_room(address, parts)
        token = access.token_new()
        last = commands[-1]["position"] if commands else 0
        lab = lab_row(
            scenario, token, visitor, address_hash=address, name=name, parts=parts, script=script,
            position=last + 1, clock_floor_us=at_us,
        )  # fmt: skip
        pause = {"command_id": copies.own_id(lab, "pause_lab"), "kind": "pause_lab", "args": {}}
        pause = {**check_command(pause), "position": last + 1, "at_us": at_us}
        StoredCommand.objects.bulk_create(
            [_row(lab, command) for command in [*commands, pause]], batch_size=500
        )
        services.lab_watched(lab_ids=[lab.pk], wake=True)
    return services.OpenedLab(lab, token)


def _row(lab: Lab, command: Json) -> StoredCommand:
    body = {name: value for name, value in command.items() if name not in ("position", "at_us")}
    return StoredCommand(
        lab=lab,
        command_id=body["command_id"],
        position=command["position"],
        at_us=command["at_us"],
        body=body,
    )


# -- checks --------------------------------------------------------------------------------------------------


def _wrong(part: str, reason: str) -> Refused:
    return Refused(400, {"file": _("%(part)s in the file: %(reason)s") % {"part": part, "reason": reason}})


def _told(refused: Refused, part: str) -> Refused:
    """What was refused of a part of the file, told at the file."""
    field, texts = next(iter(refused.fields.items()))
    return _wrong(f"{part}.{field}", " ".join(texts))


def _no_run() -> Refused:
    text = _(
        "is not a run of Highwater: take one from the ⋯ menu of a lab, or from highwater serve --journal"
    )
    return Refused(400, {"file": text})


def _check_kind(run: Any) -> None:
    if not isinstance(run, dict) or run.get("highwater_run") != FORMAT:
        raise _no_run()
    if run.get("rules") != RULES_VERSION:
        text = _(
            "was made under version %(made)s of the rules, and this site has version %(now)s: the same commands could "
            "come to something else here, so it is not opened"
        )
        raise Refused(409, {"file": text % {"made": str(run.get("rules"))[:20], "now": RULES_VERSION}})
    if unknown := sorted(set(run) - set(FIELDS)):
        raise _wrong(unknown[0][:64], _("is unknown"))
    if not isinstance(run.get("scenario"), dict):
        raise _wrong("scenario", _("must be an object"))


def _commands(raw: Any, until_us: int, most: int) -> list[Json]:
    """In order, each once, none before the one ahead of it or after the end."""
    found: list[Json] = []
    ids: set[str] = set()
    for place, entry in enumerate(_list(raw, "commands", most)):
        part = f"commands[{place}]"
        if not isinstance(entry, dict):
            raise _wrong(part, _("must be an object"))
        body = _body(
            {name: value for name, value in entry.items() if name not in ("position", "at_us")}, part
        )
        at_us = _whole(entry.get("at_us"), until_us, f"{part}.at_us")
        position = _whole(entry.get("position"), _POSITION_MAX, f"{part}.position")
        if found and (at_us < found[-1]["at_us"] or position <= found[-1]["position"]):
            raise _wrong(part, _("comes before the one ahead of it"))
        if position < 1:
            raise _wrong(f"{part}.position", _("must be a whole number"))
        if body["command_id"] in ids:
            raise _wrong(f"{part}.command_id", _("was used for another command"))
        ids.add(body["command_id"])
        found.append({**body, "position": position, "at_us": at_us})
    return found


def _scripted(entry: Any) -> Json:
    if not isinstance(entry, dict) or set(entry) != {"at_us", "body"}:
        raise _wrong("script", _("must be an object"))
    return {
        "at_us": _whole(entry["at_us"], LASTS_US_MAX, "script.at_us"),
        "body": _body(entry["body"], "script"),
    }


def _body(raw: Any, part: str) -> Json:
    try:
        return services.ordered_of(raw).to_json()
    except Refused as refused:
        raise _told(refused, part) from refused


def _list(raw: Any, part: str, most: int = COMMANDS_MAX) -> list[Any]:
    if not isinstance(raw, list):
        raise _wrong(part, _("must be a list"))
    if len(raw) > most:
        raise _wrong(part, _("has more than %(count)s entries") % {"count": number(most)})
    return raw


def _whole(raw: Any, most: int, part: str) -> int:
    if type(raw) is not int or raw < 0:
        raise _wrong(part, _("must be a whole number"))
    if raw > most:
        text = clock(most) if part.endswith("at_us") else number(most)
        raise _wrong(part, _("must be %(most)s at most") % {"most": text})
    return raw


def _name(raw: Any) -> str:
    if not isinstance(raw, str) or len(raw) > NAME_MAX or not (raw == "" or raw.isprintable()):
        raise _wrong("name", _("must be 1 to 64 printable characters"))
    return raw.strip()
