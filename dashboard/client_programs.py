"""What a page says of real clients beside the lab's view: a program for each library, as docs/clients/ has it, and the lab that would be
made for them."""

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from broker_core.events import Json
from broker_core.lab.settings import SEED
from broker_core.serve.journal import Began
from broker_core.serve.server import epoch_us
from dashboard.labs.clients_run import scenario_of

CLIENTS = {
    "pika": "pika.md",
    "kombu": "kombu.md",
    "Celery": "celery.md",
    "aio-pika": "aio_pika.md",
    "amqplib": "amqplib.md",
}
"""Library -> its page."""
ADDRESS = "amqp://guest:guest@127.0.0.1:5672/"
"""As the pages have it; a lab's own takes its place."""
_PROGRAM = re.compile(r"```\w+\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"Save it as `([\w.]+)`")
_LINE = re.compile(rf"`([^`\n]*{re.escape(ADDRESS)})`")
_LINES = re.compile(r"((?:^    .+\n)+)", re.MULTILINE)
_EVERYWHERE = ("0.0.0.0", "::")


@cache
def programs() -> list[Json]:
    """[{name, file, text, run}], in the order of CLIENTS. run: what a person types once the program is saved, with ADDRESS."""
    folder = Path(settings.BASE_DIR) / "docs" / "clients"
    return [_read(name, (folder / page).read_text(encoding="utf-8")) for name, page in CLIENTS.items()]


def _read(name: str, text: str) -> Json:
    program, file = _PROGRAM.search(text), _FILE.search(text)
    assert program is not None and file is not None, name
    after = text[program.end() :]
    line, lines = _LINE.search(after), _LINES.search(after)
    if line is not None:
        run = line[1]
    else:
        assert lines is not None, name
        run = "\n".join(each[4:] for each in lines[1].splitlines())
    return {"name": name, "file": file[1], "text": program[1], "run": run}


def clients_page(seed: int = SEED.default) -> Json:
    """For the page's scripts. request: of a lab for clients alone. host: where open labs are reached; "": where the page is."""
    scenario = scenario_of(Began(seed, epoch_us()))
    host = settings.CLIENTS_HOST
    return {
        "is_on": settings.CLIENTS_ON,
        "host": "" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host,
        "address": ADDRESS,
        "connections_max": settings.CLIENTS_CONNECTIONS_MAX,
        "bytes_max": settings.CLIENTS_BYTES_MAX,
        "programs": programs(),
        "request": {**scenario, "name": _("real clients")},
        "labs": reverse("api-labs"),
        "page": reverse("rabbitmq", args=["LAB"]),
    }


def clients_context(lane: Json) -> Json:
    """For the template. lane: of the view."""
    return {
        "client_programs": [each["name"] for each in programs()],
        "is_for_clients": bool(lane.get("is_open")),
    }
