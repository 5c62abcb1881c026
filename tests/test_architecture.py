"""The shape of the repository: what may import what, what the core may not touch, what is where."""

import ast
import gzip
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


LINES_MAX = 450
"""As `tests/js/modules.test.mjs` asks of modules and of their tests."""


def test_no_file_of_python_is_longer_than_450_lines():
    lengths = {
        name: len((ROOT / name).read_text(encoding="utf-8").splitlines())
        for name in tracked()
        if name.endswith(".py") and (ROOT / name).exists()
    }
    assert len(lengths) > 1_000
    assert {name: length for name, length in lengths.items() if length > LINES_MAX} == {}


LANES_OLDER_NAME = re.compile(
    r"(?<![A-Za-z])[Rr]igs?(?![a-z])|(?<=[a-z])Rigs?(?![a-z])|(?<![A-Za-z])RIGS?(?![A-Za-z])"
)
READS_IT = "broker_core/lab/older_names.py"
"""The one place; those below tell people of it, test it, or are history."""
SAYS_IT = {
    "docs/interface.md",
    "CHANGELOG.md",
    "tests/test_architecture.py",
    "tests/dashboard/test_before_the_cluster.py",
}


def says_the_older_name(name):
    return (
        name == READS_IT
        or name in SAYS_IT
        or name.startswith(("dashboard/migrations/", "static/vendor/"))
        or name.endswith("/test_older_names.py")
    )


def test_a_lane_is_called_by_its_older_name_in_one_place():
    found = []
    for name in tracked():
        path = ROOT / name
        if path.suffix in (".png", ".ico") or not path.exists() or says_the_older_name(name):
            continue
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode(errors="replace")
        found += [f"{name}: {match[0]}" for match in LANES_OLDER_NAME.finditer(text)]
    assert found == []
    assert LANES_OLDER_NAME.search((ROOT / READS_IT).read_text())


@pytest.mark.parametrize(
    ("said", "is_it"),
    [("rig", True), ("view.rigs", True), ("rig_order", True), ("oneRig", True), ("RIGS", True), ("a_rig", True),
     ("right", False), ("origin", False), ("trigger", False), ("RIGHT", False), ("brigs", False)],
)  # fmt: skip
def test_the_older_name_is_found_as_a_word(said, is_it):
    assert bool(LANES_OLDER_NAME.search(said)) is is_it


BINARY = (".gz", ".png", ".ico", ".zst", ".bz2", ".zip", ".avro", ".xlsx", ".parquet")


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
        if path.suffix in BINARY or not path.exists():
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


def questions() -> dict[str, list[str]]:
    """Question -> what its row names in backticks."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text.partition("## Where is it?")[2], re.MULTILINE)
    return {asked: re.findall(r"`([^`]+)`", answer) for asked, answer in rows if "`" in answer}


# What the file must hold for its row to be true.
HOLDS = {
    "where does a real client's socket come to a lab": "class Door",
    "who may open a lab to real clients": "def check_order",
    "what may a lecture say, and which line of it is wrong": "def lecture_from_text",
    "how does a lab run in a notebook": "class Run",
    "what may a page of another site show of a lab": "def embed",
    "what is in a capsule, and who answers its page offline": "class Recording",
    "where does a fault strike a real client's method": "def _strike",
    "what breaks a promise, and how is the shortest schedule found": "class Search",
    "what may a follower do, and what does their page do": "def room_copy",
    "what is the room asked, and who counts the answers": "def question_ask",
    "what is a task of the room, and who says that it is done": "def task_set",
    "what of a picture can be marked as an answer": "class Shown",
    "where is an event of a lab searched, and by which words": "def search",
    "which code ran, line by line": "class Trace",
    "where does a lesson pause, and what does it point at": "class Frame",
    "who decides that C3 owns slot 6067": "class RingSelector",
    "where is a Kafka session timeout noticed": "def session_over",
    "where does a replica's high watermark live": "high_watermark",
    "who elects a partition's leader": "def elect_leader",
    "where is a batch written to the log, byte for byte": "def encode_batch",
    "where are a TubeMQ master's rules": "def refusal",
    "what does a real client's socket say to the broker": "class Remote",
    "when may an answer leave for a real client": "def turn",
    "how is a run of real clients a lab": "class SocketActs",
    "where does a new exchange type go": "EXCHANGE = Direct",
    "who gets a key from a consistent-hash exchange": "class ConsistentHash",
    "why does a RabbitMQ queue grow": "def growing",
    "who gives a RabbitMQ message to a consumer": "def dispatch",
    "where do arrivals enter a world": "class Arrivals",
    "what may go wrong with a link": "CUT",
    "which message is number 412, and who sent it": "def origin",
    "where is a command checked, and what may its check know": "",
    "which file makes the sentence under a lane": "CODES",
    "which file says the two lines above every page of a lab": "export function storyOf",
    "which chapter is a lesson in, and which moment is its still": "CHAPTERS",
    "what may a lab set, within which bounds": "LANE_SETTINGS",
    "what would a broker's death cost": "def crashes_view",
    "what does a change cost": "class Bill",
    "what would a change do, and who would have a key": "def tried",
    "why is a partition, a slot, a queue or a figure so": "def why",
    "where did a record go": "class Stamps",
    "where does a fork at moment t happen": "def cut",
    "when is a checkpoint taken": "class Cadence",
    "what can be compared": "WAYS",
    "where is a lab's past looked at": "class KeptLabs",
    "who answers for a script or a style": "class StaticFiles",
    "where does a Celery task drive a lab": "shared_task",
    "where is one writer per lab enforced": "epoch",
    "who says that a lab is behind": "share",
    "where does a frame wait for a slow browser": "acknowledge",
    "which words does the Stage say": "export",
    "where does a study count": "def study_run",
}


def test_map_answers_the_questions_of_a_newcomer():
    assert set(questions()) == set(HOLDS)


@pytest.mark.parametrize("asked", HOLDS)
def test_question_is_answered_by_the_file_that_its_row_names(asked):
    paths = [name.partition(":")[0] for name in questions()[asked] if "/" in name]
    files = [ROOT / path for path in paths if (ROOT / path).is_file()]
    assert files and all((ROOT / path).exists() for path in paths), paths
    assert any(HOLDS[asked] in file.read_text() for file in files), asked
    for name in questions()[asked]:
        path, _, inside = name.partition(": ")
        if inside:
            assert re.search(rf"(?:def|class) {inside}\b", (ROOT / path).read_text()), name


def imports() -> dict[str, set[str]]:
    """Module -> modules of ours that it imports, anywhere in it and for types alone, too."""
    modules = {
        name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): ROOT / name
        for name in tracked()
        if name.endswith(".py") and name.split("/")[0] in ("broker_core", "dashboard", "mqsite")
    }
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        named = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                named |= {f"{node.module}.{alias.name}" for alias in node.names}
                # The package itself, where what is taken from it is no module.
                if any(f"{node.module}.{alias.name}" not in modules for alias in node.names):
                    named.add(node.module)
        found[module] = (named & modules.keys()) - {module}
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """What is left when modules that import nothing left, or that nothing left imports, are taken away."""
    left = {module: set(named) for module, named in graph.items()}
    while True:
        used = set().union(*left.values()) if left else set()
        gone = {module for module, named in left.items() if not named or module not in used}
        if not gone:
            return [sorted(left)] if left else []
        left = {module: named - gone for module, named in left.items() if module not in gone}


def test_no_modules_import_one_another_in_a_circle():
    assert circles(imports()) == []


def test_a_circle_is_found_and_a_line_is_none():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


ENTRANCES = (
    "lab.scenario",
    "lab.lab",
    "lab.journal",
    "lab.view",
    "lab.commands",
    "lab.pulsar.options",
    "lab.lesson.file",
    "lab.kafka.options",
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
