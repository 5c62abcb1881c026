"""A lab in a notebook: run in a process of its own, as Jupyter's kernel is, within an event loop as there, outside of the
checkout's folder."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mqsite.keeper import ROOT

NOTEBOOK = ROOT / "docs/lab.ipynb"
HERE = os.pathsep.join((str(ROOT), str(ROOT / "broker_core/serve/installed")))
PROGRAM = """
import asyncio, json
import highwater

def refused(make):
    try:
        make()
    except ValueError as error:
        return str(error)
    return ""

async def main():
    work = {"kind": "zipf", "keys": 20, "rate": 10}
    two = {"lanes": [{"model": "pulsar"}, {"model": "rabbitmq"}], "consumers": 2, "workload": work}
    orders = [{"at_s": 4, "kind": "join"}]
    runs = [highwater.lab(two, seconds=8, orders=orders) for _ in range(2)]
    other = highwater.lab(two, seed=8, seconds=8, orders=orders)
    lesson = highwater.lab("kafka_eager_join")
    print(json.dumps({
        "again": runs[0].figures(1).equals(runs[1].figures(1)),
        "other": runs[0].figures(1).equals(other.figures(1)),
        "before": sorted(map(list, runs[0].consumers(at_s=3).index)),
        "after": sorted(map(list, runs[0].consumers().index)),
        "back": runs[0].consumers(at_s=3).equals(runs[1].consumers(at_s=3)),
        "columns": list(runs[0].figures(4).columns),
        "joins": [kind for kind in runs[0].events()["kind"] if kind.endswith(".connected")],
        "checks": lesson.checks()["holds"].all().item(),
        "lasts": lesson.seconds,
        "stage": "player/start" in runs[0].show().html or len(runs[0].show().html),
        "refused": [refused(make) for make in (
            lambda: highwater.lab("no_such"),
            lambda: highwater.lab({"lanes": [{"model": "x"}]}),
            lambda: highwater.lab({}, orders=[{"at_s": 1, "kind": "fly"}]),
            lambda: highwater.lab({}, orders=[{"kind": "join"}]),
            lambda: highwater.lab("kafka_eager_join", orders=orders),
            lambda: highwater.lab({}, seconds=0),
            lambda: runs[0].consumers(at_s=9),
            lambda: runs[0].figures(0),
            lambda: runs[0].show("log"),
            lambda: runs[0].show("cluster"),
            lambda: runs[0].show(language="de"),
            lambda: runs[0].show(theme="pink"),
            lambda: runs[0].show(from_s=5, until_s=5),
        )],
    }))

asyncio.run(main())
"""
FIELDS = [
    "scenario", "lanes.0.model", "orders.0.kind", "orders.0.at_s", "orders", "seconds", "at_s", "every_s",
    "page", "page", "language", "theme", "until_s",
]  # fmt: skip


def ran(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    without = {
        name: text for name, text in os.environ.items() if not name.startswith(("DJANGO", "HIGHWATER"))
    }
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=without | {"PYTHONPATH": HERE},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_run_is_the_same_again_and_what_is_wrong_is_said_at_its_name(tmp_path: Path) -> None:
    done = ran("-c", PROGRAM, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["again"] and said["back"] and not said["other"]
    two = [[lane, name] for lane in ("pulsar", "rabbitmq") for name in ("c1", "c2")]
    assert said["before"] == two and said["after"] == sorted([*two, ["pulsar", "c3"], ["rabbitmq", "c3"]])
    assert said["columns"] == ["skew", "lag", "moved", "paused_s", "redelivered", "out_of_order", "lost"]
    assert said["joins"] and said["checks"] and said["lasts"] == 68 and said["stage"]
    assert [text.partition(":")[0] for text in said["refused"]] == FIELDS


@pytest.mark.slow
def test_the_notebook_shows_what_stands_under_its_cells(tmp_path: Path) -> None:
    done = ran("-m", "tests.notebook_run", str(NOTEBOOK), "--check", folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_notebook_is_nbformat_4_and_tells_nothing_of_a_machine() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and notebook["nbformat_minor"] >= 5
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert not re.search(r"/(home|tmp|work|Users|root)/", NOTEBOOK.read_text(encoding="utf-8"))
    assert len(NOTEBOOK.read_bytes()) < 50_000


def test_where_there_is_no_checkout_it_says_what_is_needed(tmp_path: Path) -> None:
    """As in a wheel, which serving alone needs."""
    alone = tmp_path / "a/b/c/highwater"
    alone.mkdir(parents=True)
    text = (ROOT / "broker_core/serve/installed/highwater/__init__.py").read_text(encoding="utf-8")
    (alone / "__init__.py").write_text(text, encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(alone.parent)!r}); import highwater; highwater.lab"
    done = ran("-c", program, folder=tmp_path)
    assert done.returncode == 1 and "needs a checkout of Highwater" in done.stderr
