"""`python -m broker_core.conformance PATH...`: run recorded vectors against the core and say how each file
went.

Exit code 0: cases ran and all passed. 1: a case failed, a kind is unknown (unless passed over with
--known-only), a file cannot be read, or nothing ran at all. 2: no path was given.

`--results FILE` writes instead what the page /fidelity/ says of the one folder that is given (`fidelity.py`).
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from broker_core.conformance import fidelity
from broker_core.conformance.files import UnreadableFile, read_document, shown_name, vector_files
from broker_core.conformance.kinds import kind_of
from broker_core.conformance.report import FAILURES_SHOWN, beyond_line, failure_lines, skip_line, tally_line
from broker_core.conformance.result import CaseResult


def main(arguments: Sequence[str]) -> int:
    """Run the command. arguments: without the program's name. Returns the exit code; prints the report."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # a recorded string may hold what the terminal cannot write
    if options.results is not None:
        return _write_results(options.paths[0], options.results)
    total: Counter[str] = Counter()
    is_sound = True
    unknown = 0
    for file in _files(options.paths):
        if isinstance(file, UnreadableFile):
            print(file, file=sys.stderr)
            is_sound = False
            continue
        try:
            results = run_file(file)
        except UnreadableFile as error:
            print(f"{shown_name(file)}: {error}", file=sys.stderr)
            is_sound = False
            continue
        if results is None:
            unknown += 1
            print(
                f"{shown_name(file)}: unknown "
                f"kind{', passed over (--known-only)' if options.known_only else ''}"
            )
        else:
            total += Counter(result.outcome for result in results)
            _print_file(shown_name(file), results)
        sys.stdout.flush()
    if unknown:
        how = "passed over (--known-only)" if options.known_only else "not run"
        print(f"{unknown} file{'s' if unknown > 1 else ''} of unknown kind {how}")
        is_sound = is_sound and options.known_only
    elif is_sound and not total["passed"] + total["failed"]:
        print(
            "No case was run, so nothing is proven: no vector file with cases there (.json, .json.gz).",
            file=sys.stderr,
        )
        is_sound = False
    print(tally_line(total))
    return 0 if is_sound and not total["failed"] else 1


def _write_results(folder: Path, path: Path) -> int:
    """The counts of each recording in a file, one a line; a failed case fails the command."""
    try:
        rows = list(fidelity.rows(folder))
    except UnreadableFile as error:
        print(error, file=sys.stderr)
        return 1
    path.write_text(
        "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8", newline="\n"
    )
    total: Counter[str] = Counter()
    for row in rows:
        total += Counter(passed=row["met"], failed=row["failed"], skipped=len(row["skipped"]))
    print(tally_line(total))
    return 1 if total["failed"] else 0


def run_file(path: Path) -> list[CaseResult] | None:
    """Run every case of one file. None: its kind is unknown. Raises UnreadableFile for a file that is not
    what it should be."""
    document = read_document(path)
    kind = kind_of(document, path.name)
    if kind is None:
        return None
    try:
        return list(kind.run(document))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # A case answers for itself; what comes up between the cases is a document that is not what its kind
        # says.
        raise UnreadableFile(
            f"is not a well-formed {kind.name} file ({type(error).__name__}: {error})"
        ) from error


def _files(paths: Sequence[Path]) -> Iterator[Path | UnreadableFile]:
    """Each file once, though it may be named twice; in place of a path that gives none, the reason."""
    seen = set()
    for path in paths:
        try:
            files = vector_files(path)
        except UnreadableFile as error:
            yield error
            continue
        for file in files:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _print_file(name: str, results: list[CaseResult]) -> None:
    print(f"{name}: {tally_line(Counter(result.outcome for result in results))}")
    failed = [result for result in results if result.outcome == "failed"]
    for result in failed[:FAILURES_SHOWN]:
        print(*failure_lines(result), sep="\n")
    if len(failed) > FAILURES_SHOWN:
        print(f"  and {len(failed) - FAILURES_SHOWN} more failed")
    beyond = beyond_line(results)
    if beyond is not None:
        print(beyond)
    for result in results:
        if result.outcome == "skipped":
            print(skip_line(result))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m broker_core.conformance",
        description="Run recorded answers of Pulsar, Kafka, TubeMQ and RabbitMQ against the core.",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a vector file (.json, .json.gz) or a folder of them",
    )
    parser.add_argument(
        "--known-only", action="store_true", help="pass over files of an unknown kind instead of failing"
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="write the counts of each recording of the folder PATH to FILE",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
