"""What a browser learns of a lab, as text: a snapshot, and what the view says about the driving of the lab.
Web and worker share it."""

from collections.abc import Collection

import msgspec

from broker_core.events import Json
from broker_core.lab.panels import PANELS
from dashboard.models import StoredCommand

_encoder = msgspec.json.Encoder()


def encode(value: object) -> str:
    return _encoder.encode(value).decode()


def snapshot_text(lab_id: str, epoch: int, seq: int, at_us: int, view_text: str) -> str:
    """The message that needs nothing before it. The view is text already: it was encoded once, for
    everybody."""
    head = encode({"type": "snapshot", "lab": lab_id, "epoch": epoch, "seq": seq, "at_us": at_us})
    return f'{head[:-1]},"view":{view_text}}}'


def feed_state(
    epoch: int,
    *,
    behind_ms: int = 0,
    auto_paused: bool = False,
    failed: str | None = None,
    panels: Collection[str] = (),
    clients: Json | None = None,
) -> Json:
    """What the view says about the driving of the lab, beside what the lab says about itself. panels: those
    that are of this very view; the others are of an earlier one, as nobody has their page open. clients: of a lab that is open to real ones."""
    return {
        "behind_ms": behind_ms,
        "auto_paused": auto_paused,
        "epoch": epoch,
        "failed": failed,
        "panels": [name for name in PANELS if name in panels],
        **({} if clients is None else {"clients": clients}),
    }


def refusal_event(
    command: StoredCommand, at_us: int, fields: dict[str, list[str]], words: dict[str, str]
) -> Json:
    """A refusal as browsers hear of it. words: language -> the reason. It has no place among the turning
    points: the lab is unchanged."""
    return {
        "seq": None,
        "at_us": at_us,
        "lane": "lab",
        "kind": "lab.command_refused",
        "cause": {"command": command.position},
        "rule": None,
        "inputs": {},
        "data": {"command_id": command.command_id, "fields": fields, "words": words},
    }
