"""Looking back in an hour of the demo over HTTP, as a browser does: seeks anywhere, and a handle that is dragged.

The lab is lived through here with the checkpoints that its worker would take, and put into the site's database; the
site then only looks back in it.

python -m tests.bench.past_http fill <seconds>, in a site's environment, makes such a lab and prints its id.
"""

import json
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from tests.bench.smoke import is_smoke
from tests.dashboard.processes import Site

Figure = tuple[str, float, str, str, str]
SECOND = 1_000_000
DRAG_S = 10.0
PANELS = "cluster"
HELD_S = 3_600  # the site's own worker must not drive the lab that is only looked back in
HANDLE_US = 9 * SECOND
"""What two neighbouring places of a handle are apart where an hour is 400 px wide."""


def run(span_s: int, seeks: int) -> list[Figure]:
    """(what, value, unit, bar, note) per figure."""
    drag_s = 0.5 if is_smoke() else DRAG_S
    with (
        tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder,
        Site(Path(folder), shards=1, past=True) as site,
    ):
        lab_id = site.python("-m", "tests.bench.past_http", "fill", str(span_s)).split()[-1]
        browser = Browser(site.port, lab_id)
        browser.look(0)  # the worker imports what it needs with its first look
        took = sorted(browser.look(place * 7_919 % span_s * SECOND + 500_000) for place in range(seeks))
        right = browser.drag(HANDLE_US, span_s * SECOND, drag_s)
        left = browser.drag(-HANDLE_US, span_s * SECOND, drag_s)
    return [
        ("past over HTTP: median", took[len(took) // 2], "ms", "<= 200", f"{seeks} seeks in {span_s} s"),
        ("past over HTTP: 99 of 100", took[min(len(took) - 1, len(took) * 99 // 100)], "ms", "<= 400", ""),
        ("pictures a second, dragged to the right", right, "", ">= 8", "9 s of the lab a picture"),
        ("pictures a second, dragged to the left", left, "", ">= 8", ""),
    ]


class Browser:
    """One viewer of a lab, on one connection."""

    def __init__(self, port: int, lab_id: str) -> None:
        self.connection, self.lab_id = HTTPConnection("127.0.0.1", port, timeout=60), lab_id

    def look(self, at_us: int, **given: int) -> float:
        """Milliseconds from the press to the picture's text, parsed."""
        began_s = time.perf_counter()
        self.connection.request(
            "GET",
            f"/api/labs/{self.lab_id}/past/?{urlencode({'at_us': at_us, 'panels': PANELS, 'look': 'bench', **given})}",
        )
        answer = self.connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(found)
        return (time.perf_counter() - began_s) * 1000

    def drag(self, by_us: int, span_us: int, seconds: float) -> float:
        """Pictures a second while a handle is moved through the whole lab and back to its start, one request after
        the other, as the page asks (static/js/lane/transport.js)."""
        at_us, count = (0 if by_us > 0 else span_us), 0
        began_s = time.perf_counter()
        while time.perf_counter() - began_s < seconds:
            self.look(at_us, every_us=abs(by_us))
            count += 1
            at_us = (at_us + by_us) % span_us
        return count / (time.perf_counter() - began_s)


def fill(span_s: int) -> str:
    """Put a demo that has run for so long into the database; its id."""
    import django

    django.setup()
    from django.db import transaction

    from broker_core.lab.journal import Cadence, Journal
    from broker_core.lab.lab import Lab
    from broker_core.lab.scenario import scenario_from_json
    from dashboard.labs import services, writes
    from dashboard.labs.frames import encode
    from dashboard.leases import lease_end_ms
    from dashboard.models import Lab as Row
    from dashboard.models import StoredCommand, StoredView

    with transaction.atomic():  # no worker sees the lab before it is held here
        row = services.lab_open(request={"scenario": "demo", "seed": 7}).lab
        Row.objects.filter(pk=row.pk).update(
            status=Row.Status.IDLE,
            clock_floor_us=span_s * SECOND,
            lease_owner="bench",
            lease_until_ms=lease_end_ms(HELD_S),
        )
        play = row.commands.get()
        StoredCommand.objects.filter(pk=play.pk).update(state=StoredCommand.State.APPLIED, at_us=0)
    scenario = scenario_from_json(row.scenario)
    lab, journal, cadence = Lab(scenario), Journal(scenario), Cadence()
    lab.submit({**play.body, "position": play.position})
    for second in range(1, span_s + 1):
        lab.advance_to(second * SECOND)
        journal.keep(lab, cadence)
    for checkpoint in journal.checkpoints.values():
        writes.checkpoint_store(row.pk, checkpoint)
    StoredView.objects.create(lab=row, epoch=0, seq=0, at_us=lab.now_us, text=encode(lab.view()))
    return str(row.pk)


if __name__ == "__main__":
    print(fill(int(sys.argv[2])))
