"""The shape of the repository: what may import what, what the core may not touch, what is where."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
FOLDERS = {"mqsite", "broker_core", "dashboard", "templates", "static", "tests", "locale", "docs", ".ci"}
LOCKS = {"requirements.lock", "requirements-dev.lock"}
FILES = LOCKS | {
    "manage.py",
    "pyproject.toml",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Makefile",
    ".gitignore",
}


def tracked() -> list[str]:
    return subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def lint(code: str, path: str) -> str:
    """What ruff says of `code` as if it stood at `path`."""
    run = subprocess.run(
        [BIN / "ruff", "check", "--no-cache", "--output-format", "concise", "--stdin-filename", path, "-"],
        cwd=ROOT, input=code, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.stdout


def test_import_contracts_are_kept():
    run = subprocess.run(
        [BIN / "lint-imports", "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "6 kept, 0 broken" in run.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import time\n\nprint(time.time())\n",
        "import random\n\nprint(random.random())\n",
        "from uuid import uuid4\n\nprint(uuid4())\n",
        "from datetime import datetime\n\nprint(datetime.now())\n",
        "import socket\n\nprint(socket.socket())\n",
        "import threading\n\nprint(threading.Lock())\n",
        "import numpy.random\n\nprint(numpy.random.rand())\n",
    ],
)
def test_core_has_no_clock_chance_or_thread_of_its_own(code):
    assert "TID251" in lint(code, "broker_core/lab/anything.py")
    assert "TID251" not in lint(code, "dashboard/anything.py")


def test_generator_of_chance_stands_in_one_file():
    code = "import random\n\nprint(random.Random(7).getrandbits(3))\n"
    assert "TID251" in lint(code, "broker_core/clock.py")
    assert "TID251" not in lint(code, "broker_core/rng.py")


def test_top_level_holds_what_the_mission_names_and_nothing_else():
    tops = {name.split("/", 1)[0] for name in tracked()}
    assert tops <= FOLDERS | FILES, tops - FOLDERS - FILES


def test_repository_names_no_registry_and_no_path_of_a_machine():
    # Put together here, so that this file does not name them itself.
    words = [
        "pypi" + ".org",
        "pythonhosted" + ".org",
        "registry.npmjs" + ".org",
        "deb.debian" + ".org",
        "/work" + "/main",
        "/work" + "/shared",
    ]
    for name in tracked():
        path = ROOT / name
        if path.suffix in (".gz", ".png", ".ico") or not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        for word in words:
            assert word not in text, f"{name} names {word}"


def test_locks_pin_by_hash_and_name_no_address():
    for name in sorted(LOCKS):
        text = (ROOT / name).read_text()
        assert "--hash=sha256:" in text and "://" not in text


def named_paths() -> set[str]:
    """What ARCHITECTURE.md names in backticks and with a folder; `a/{b,c}/d.py` is two paths."""
    names = re.findall(r"`([^`\s]+/[^`\s]*?)(?::[^`]*)?`", (ROOT / "ARCHITECTURE.md").read_text())
    paths = set()
    for name in names:
        head, braces, rest = name.partition("{")
        inner, _, tail = rest.partition("}")
        paths |= {head + each + tail for each in inner.split(",")} if braces else {name}
    return {path for path in paths if "<" not in path}


def test_every_path_that_the_map_names_is_there():
    paths = named_paths()
    tops = {path for path in paths if path.split("/")[0] in FOLDERS}
    assert len(tops) > 40
    assert {path for path in tops if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize(
    ("asked", "path", "name"),
    [
        (
            "who decides that C3 owns slot 6067",
            "broker_core/pulsar/selectors/consistent_hash.py",
            "class RingSelector",
        ),
        (
            "where is a Kafka session timeout noticed",
            "broker_core/kafka/group/classic/heartbeat.py",
            "def session_over",
        ),
        ("where is one writer per lab enforced", "dashboard/ledger.py", "epoch"),
        ("where would a new exchange type go", "broker_core/rabbitmq/handlers.py", "def basic_publish"),
        (
            "where does a replica's high watermark live",
            "broker_core/kafka/replication/in_sync.py",
            "high_watermark",
        ),
        ("where does a fork at t happen", "broker_core/lab/journal.py", "def cut"),
        ("what may people read of a lane", "broker_core/lab/observers/__init__.py", "what people read"),
        ("which sentence is said", "broker_core/lab/observers/codes.py", "CODES"),
    ],
)
def test_question_is_answered_by_the_file_that_its_words_suggest(asked, path, name):
    assert name.lower() in (ROOT / path).read_text().lower(), asked
    folder, _, file = path.rpartition("/")
    map_text = (ROOT / "ARCHITECTURE.md").read_text()
    assert file in map_text or any(
        part in map_text for part in (f"`{folder}/`", f"`{folder.rpartition('/')[2]}`")
    ), asked


ENTRANCES = (
    "lab.scenario",
    "lab.lab",
    "lab.journal",
    "lab.view",
    "lab.commands",
    "lab.lanes.pulsar_options",
    "lab.lesson.file",
    "lab.cluster_options",
    "pipeline.timed",
    "conformance.__main__",
)


@pytest.mark.parametrize("module", ENTRANCES)
def test_a_part_of_the_core_can_be_imported_first(module: str) -> None:
    """In a process of its own: here others have been imported before, which hides a circle."""
    done = subprocess.run(
        [sys.executable, "-c", f"import broker_core.{module}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
