"""What the conformance command prints, and when it fails."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker_core.conformance.__main__ import main

ROOT = Path(__file__).parents[3]
META_EXPAND = ROOT / "tests" / "vectors" / "tubemq" / "meta_expand.json.gz"


def document() -> dict[str, Any]:
    return json.loads(gzip.decompress(META_EXPAND.read_bytes()))


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str], str]]:
    """Run the command; gives its exit code, the lines of its report, and what went to stderr."""

    def command(*arguments: object) -> tuple[int, list[str], str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return command


Run = Callable[..., tuple[int, list[str], str]]


def test_a_file_prints_its_counts_and_the_run_its_sum(run: Run) -> None:
    code, lines, err = run(META_EXPAND)
    assert (code, lines, err) == (
        0,
        ["tubemq/meta_expand.json: 20 passed, 0 failed, 0 skipped", "20 passed, 0 failed, 0 skipped"],
        "",
    )


def test_it_runs_as_a_module_on_a_folder() -> None:
    command = [sys.executable, "-m", "broker_core.conformance", str(META_EXPAND.parent)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tubemq/broker_register.json: 44 passed, 0 failed, 0 skipped",
        "tubemq/client_life.json: 21 passed, 0 failed, 0 skipped",
        "tubemq/master_register.json: 51 passed, 0 failed, 0 skipped",
        "tubemq/meta_expand.json: 20 passed, 0 failed, 0 skipped",
        "tubemq/mod_assign.json: 106 passed, 0 failed, 0 skipped",
        "tubemq/server_cycles.json: 24 passed, 0 failed, 0 skipped",
        "tubemq/server_resource_rate.json: 10 passed, 0 failed, 0 skipped",
        "tubemq/server_start_assign.json: 40 passed, 0 failed, 0 skipped",
        "tubemq/set_difference.json: 60 passed, 0 failed, 0 skipped",
        "376 passed, 0 failed, 0 skipped",
    ]


def test_a_folder_is_searched_at_any_depth_for_plain_and_gzipped_files(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "a" / "deep" / "one.json", document())
    (tmp_path / "a" / "two.json.gz").write_bytes(META_EXPAND.read_bytes())
    (tmp_path / "a" / "notes.md").write_text("not a vector file")
    code, lines, _ = run(tmp_path, tmp_path / "a" / "two.json.gz")
    assert code == 0
    assert lines == [
        "deep/one.json: 20 passed, 0 failed, 0 skipped",
        "a/two.json: 20 passed, 0 failed, 0 skipped",
        "40 passed, 0 failed, 0 skipped",
    ]


@pytest.mark.parametrize("name", ["renamed.json", "mod_assign.json", "failover.json", "no suffix"])
def test_a_renamed_file_is_told_by_its_content(run: Run, tmp_path: Path, name: str) -> None:
    code, lines, _ = run(write(tmp_path / "x" / name, document()))
    assert (code, lines[0]) == (0, f"x/{name}: 20 passed, 0 failed, 0 skipped")


def test_gzip_is_told_by_its_bytes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.json").write_bytes(META_EXPAND.read_bytes())
    assert run(tmp_path / "plain.json")[0] == 0


def test_a_list_without_rows_is_told_by_the_name_and_proves_nothing(run: Run, tmp_path: Path) -> None:
    code, lines, err = run(write(tmp_path / "x" / "meta_expand.json", {"cases": []}))
    assert lines == ["x/meta_expand.json: 0 passed, 0 failed, 0 skipped", "0 passed, 0 failed, 0 skipped"]
    assert code == 1 and "nothing is proven" in err
    assert run(write(tmp_path / "x" / "other.json", {"cases": []}))[1][0] == "x/other.json: unknown kind"


def test_a_failed_case_is_shown_where_the_answers_part(run: Run, tmp_path: Path) -> None:
    vectors = document()
    vectors["cases"][3]["status"]["3:metrics_151:0"] = False
    code, lines, _ = run(write(tmp_path / "x" / "one.json", vectors))
    assert code == 1
    assert lines == [
        "x/one.json: 19 passed, 1 failed, 0 skipped",
        "  failed meta-3 at status.3:metrics_151:0",
        "    expected false",
        "    got      true",
        "19 passed, 1 failed, 0 skipped",
    ]


def test_the_first_twenty_failures_are_shown(run: Run, tmp_path: Path) -> None:
    vectors = document()
    vectors["cases"] = [
        {**row, "id": f"case-{number}", "status": {}} for number, row in enumerate(vectors["cases"] * 2)
    ]
    code, lines, _ = run(write(tmp_path / "x" / "one.json", vectors))
    assert code == 1
    shown = [line.split()[1] for line in lines if line.startswith("  failed ")]
    assert shown == [f"case-{number}" for number in range(20)]
    assert "  and 20 more failed" in lines


def test_an_exception_in_a_case_fails_that_case_alone(run: Run, tmp_path: Path) -> None:
    vectors = document()
    vectors["cases"][1]["topic_meta"] = ["no mark"]
    code, lines, _ = run(write(tmp_path / "x" / "one.json", vectors))
    assert code == 1
    assert lines[:2] == ["x/one.json: 19 passed, 1 failed, 0 skipped", "  failed meta-1"]
    assert "CommandError" in lines[3]


def test_a_strange_id_stays_on_one_line(run: Run, tmp_path: Path) -> None:
    vectors = document()
    vectors["cases"] = [{**vectors["cases"][0], "id": "a\nb\ud800", "status": {}}]
    _, lines, _ = run(write(tmp_path / "x" / "one.json", vectors))
    assert lines[1].startswith('  failed "a\\nb\\ud800"')


def test_an_unknown_kind_fails_the_run_unless_passed_over(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "v" / "failover.json", {"meta": {}, "cases": [{"id": "x", "topics": []}]})
    code, lines, _ = run(tmp_path, META_EXPAND)
    assert code == 1
    assert lines == [
        "v/failover.json: unknown kind",
        "tubemq/meta_expand.json: 20 passed, 0 failed, 0 skipped",
        "1 file of unknown kind not run",
        "20 passed, 0 failed, 0 skipped",
    ]
    code, lines, _ = run("--known-only", tmp_path, META_EXPAND)
    assert code == 0
    assert lines == [
        "v/failover.json: unknown kind, passed over (--known-only)",
        "tubemq/meta_expand.json: 20 passed, 0 failed, 0 skipped",
        "1 file of unknown kind passed over (--known-only)",
        "20 passed, 0 failed, 0 skipped",
    ]


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"cases": 7},
        {"cases": [7]},
        {"scenarios": [{"id": "x", "note": "", "steps": []}]},  # dispatch, topology
        {"cases": [{"id": "x", "note": "", "steps": []}]},  # shared_dispatch, master_register
        {"batches_sets": [{"id": "x", "hex": "", "batches": []}]},
        {"cases": [{"id": "x", "base": "", "change": "", "hex": ""}]},  # corrupt
    ],
)
def test_kinds_that_come_later_are_unknown(run: Run, tmp_path: Path, content: object) -> None:
    code, lines, _ = run(write(tmp_path / "x" / "one.json", content))
    assert code == 1
    assert lines == [
        "x/one.json: unknown kind",
        "1 file of unknown kind not run",
        "0 passed, 0 failed, 0 skipped",
    ]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "is not JSON"),
        (b"", "is not JSON"),
        (b"[1]", "is not a JSON object"),
        (b'"\xff"', "is not UTF-8"),
        (b"\x1f\x8b\x08\x00", "broken gzip"),
        (gzip.compress(b"{}" * 999, mtime=0)[:-9], "broken gzip"),
        (b'{"cases":' + b"[" * 200_000, "is not JSON"),
        (
            b'{"cases":[{"topic_meta":[],"second_topic_meta":[]}]}',
            "is not a well-formed meta_expand file (KeyError: 'id')",
        ),
    ],
)
def test_a_broken_file_is_one_clear_sentence(run: Run, tmp_path: Path, raw: bytes, reason: str) -> None:
    broken = tmp_path / "x" / "broken.json"
    broken.parent.mkdir()
    broken.write_bytes(raw)
    code, lines, err = run(broken, META_EXPAND)
    assert code == 1
    assert err.startswith(f"x/broken.json: {reason}") and err.count("\n") == 1
    assert lines[-1] == "20 passed, 0 failed, 0 skipped", "the other files are run"


def test_a_path_that_does_not_exist_fails_the_run(run: Run, tmp_path: Path) -> None:
    code, lines, err = run(tmp_path / "gone", META_EXPAND)
    assert code == 1
    assert err == f"{tmp_path / 'gone'}: no such file or folder\n"
    assert lines[-1] == "20 passed, 0 failed, 0 skipped"


def test_an_empty_folder_is_no_proof(run: Run, tmp_path: Path) -> None:
    code, lines, err = run(tmp_path)
    assert (code, lines) == (1, ["0 passed, 0 failed, 0 skipped"])
    assert err.startswith("No case was run")


def test_without_a_path_the_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "PATH" in capsys.readouterr().err
