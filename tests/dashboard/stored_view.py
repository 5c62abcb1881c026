"""A lab whose worker has stored this view: what a page of a lab is drawn from; and what its story says."""

import json

from broker_core.events import Json
from dashboard.labs import services
from dashboard.models import StoredView

# What every view has, of which the fixtures of single panels leave out most.
EVERY_VIEW: Json = {
    "at_us": 5,
    "playing": False,
    "speed": 1,
    "seed": 7,
    "consumer_count": 0,
    "record_count": 0,
    "key_count": 0,
    "timeline": {},
    "caption": {"code": "start", "params": {}},
    "workload": {"kind": "uniform", "keys": None, "key": None, "rate": 8},
}


def lab_with(view: Json) -> str:
    lab = services.lab_open(request={}).lab
    text = json.dumps({**EVERY_VIEW, **view})
    StoredView.objects.update_or_create(pk=lab.pk, defaults={"epoch": 1, "seq": 3, "at_us": 5, "text": text})
    return str(lab.pk)


def told(shown: Json) -> list[str]:
    """The two lines of the story, as `present` has it: what happened, and what it means."""
    return ["".join(part["text"] for part in shown["story"][line]) for line in ("what", "means")]
