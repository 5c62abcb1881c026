"""`python manage.py study FILE --key COLUMN --out DIR`: which strategy serves these messages.
docs/analyze/study.md shows what it prints.

FILE is a CSV, JSON lines or Parquet file, a folder of them, a Kafka log folder, or the word `flights`.
Progress goes to the error stream, the ranking to the output. What cannot be is said in one sentence, with
exit code 2.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pyarrow.parquet as pq
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import get_language

from broker_core.errors import CommandError as Refused
from broker_core.pipeline.advice import advise
from broker_core.pipeline.java import SparkUnavailable
from broker_core.pipeline.members import history_steps
from broker_core.pipeline.result import result_json
from broker_core.pipeline.sources.recognise import unusual
from broker_core.pipeline.spark_conf import EXAMPLE, conf_settings
from broker_core.pipeline.study import PART
from broker_core.pipeline.study_errors import StudyFailed
from broker_core.pipeline.study_request import study_check
from broker_core.pipeline.timed import rate_thinned
from dashboard.formats import fill
from dashboard.management.in_order import Stopped, run_in_order
from dashboard.management.study_line import CHANGE, KINDS, add_file_settings, request_of, typed
from dashboard.sentences import catalogue
from dashboard.studies.advice import feasible_words
from dashboard.studies.presentation import (
    head,
    notes,
    ranking_rows,
    short_names,
    suits_words,
    unowned,
    verdict_words,
)
from dashboard.studies.spark import SparkEngine, site_conf

WRONG_INPUT, FAILED, BY_SIGNAL = 2, 1, 128
GROUP = "study"
CANCELLED = "cancelled; no result was written"
COLUMNS = ("place", "strategy", "score", "skew", "churn", "pause", "lag", "order", "why")
LINES_SHOWN = 5
SHORT_BYTES = 256 << 20
"""A source up to this size is studied within half a minute or so."""
LOG_VERBOSITY = 2
KEY_HELP = (
    "the column with the key: one whose values repeat (left out, the message proposes one); of the flights: "
    "tail_number, carrier, route, origin"
)
MEMBERS_HELP = (
    'who comes and goes: "4 + + -c2 c3x +c3" (4 at the start, two join, c2 leaves, c3 crashes and comes '
    "back; c2~5: c2 slows to 5 records a second; c2@10s: c2 restarts and is back 10 s later, c2@10s+: under a "
    'new name, as a pod; "4 deploy 10s": all restart, one after another), "2..64", "rolling 8", "rolling 8 10s+", '
    '"storm 16 8", or a history as JSON'
)
CONSTRAINTS_HELP = (
    "what must hold: keeps_order=true|false (default: where keys repeat), keeps_up=true|false (default: where "
    "a rate is given), no_idle=true|false (default: true), wait_s_max=SECONDS, wait_percent_max=N, "
    "drain_s_max=SECONDS, "
    "skew_max=N; a strategy that breaks one has no place"
)


class Command(BaseCommand):
    help = "Study a workload: which strategy serves it, what every change of the membership would cost."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's, which tells what is wrong where a shell took a history apart at its blanks."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        say = parser.error

        def error(message: str) -> NoReturn:
            stray = message.removeprefix("unrecognized arguments: ")
            if stray != message and all(CHANGE.fullmatch(word) for word in stray.split()):
                message = f'put the history in quotes: --members "4 {stray}"'
            say(message)

        parser.error = error  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", help="a CSV, JSON lines or Parquet file or folder, a Kafka log folder, or: flights"
        )
        parser.add_argument(
            "--out", type=Path, required=True, help="the folder for the result, made if missing"
        )
        parser.add_argument(
            "--kind", choices=sorted(KINDS), help="what FILE is, where its name does not tell"
        )
        parser.add_argument("--key", metavar="COLUMN", help=KEY_HELP)
        for column in ("time", "size", "payload"):
            parser.add_argument(f"--{column}", metavar="COLUMN", help=f"the column with the {column}")
        add_file_settings(parser)
        parser.add_argument(
            "--strategies",
            nargs="+",
            metavar="ID",
            help='as "kafka.range:partitions=24"; default: every original\'s',
        )
        parser.add_argument("--members", default="4 + + + +", metavar="HISTORY", help=MEMBERS_HELP)
        parser.add_argument(
            "--rate", type=int, metavar="N", help="records a second that arrive in the timed runs"
        )
        parser.add_argument(
            "--consumer-rate", type=int, metavar="N", help="records a second that one consumer takes"
        )
        parser.add_argument(
            "--weights", metavar="NAME=N,...", help="what matters: skew=30,churn=30,pause=20,order=20"
        )
        parser.add_argument("--constraints", metavar="NAME=VALUE,...", help=CONSTRAINTS_HELP)
        parser.add_argument(
            "--json", action="store_true", help="print the whole result and its advice as one JSON document"
        )
        parser.add_argument("--name", help="what the study is called")
        parser.add_argument(
            "--conf",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help=f"a setting of Spark, as {EXAMPLE}; may come again",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            site_conf()
            conf = conf_settings(options["conf"], "--conf")
            request = study_check(request_of(options))
            self._say_read_as(request["source"])
            self._say_thinned(request)
            result = self._run(request, options["out"], options["verbosity"], conf)
        except Refused as error:
            raise CommandError(
                f"{typed(error.field, options)}: {error.reason}", returncode=WRONG_INPUT
            ) from None
        except SparkUnavailable as error:
            raise CommandError(str(error), returncode=FAILED) from None
        except StudyFailed as error:
            raise CommandError(error.reason, returncode=FAILED) from None
        except (Stopped, KeyboardInterrupt) as stopped:
            number = stopped.number if isinstance(stopped, Stopped) else signal.SIGINT
            raise CommandError(CANCELLED, returncode=BY_SIGNAL + number) from None
        if options["json"]:
            advice = advise(result, request["weights"], request["constraints"])
            self.stdout.write(json.dumps({**result, **advice}, ensure_ascii=False))
            return
        self._print(result, request, options["out"])
        self.stdout.write(f"\nThe tables are in {options['out']}")

    def _say_read_as(self, source: dict[str, Any]) -> None:
        """What was recognised of a file that is not plain."""
        found = {**unusual(source), **{name: source[name] for name in ("time_format",) if source.get(name)}}
        if found:
            settings = ", ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in found.items())
            self.stderr.write(f"read with: {settings}")

    def _say_thinned(self, request: dict[str, Any]) -> None:
        thinned = rate_thinned(history_steps(request["history"]), request["service"])
        if thinned is not None:
            words = _words()
            self.stderr.write(
                fill(
                    words["service.thinned_beyond" if thinned["only_beyond"] else "service.thinned"],
                    thinned,
                    words,
                )
            )

    def _run(
        self, request: dict[str, Any], out: Path, verbosity: int, conf: Mapping[str, str]
    ) -> dict[str, Any]:
        # Only now: what is wrong with the input is said before Spark is loaded.
        from broker_core.pipeline.session import spark_kill

        with tempfile.TemporaryDirectory(prefix="highwater-study-", ignore_cleanup_errors=True) as work_dir:
            engine, opened = (
                SparkEngine(Path(work_dir), is_short=_size(request["source"]) <= SHORT_BYTES, conf=conf),
                threading.Event(),
            )

            def work(is_cancelled: Callable[[], bool]) -> None:
                try:
                    spark = engine.open()
                    opened.set()
                    if verbosity < LOG_VERBOSITY and not settings.SPARK_REMOTE:
                        # What goes wrong is one sentence at the end; Spark would say it first, in forty
                        # lines.
                        spark.sparkContext.setLogLevel("OFF")
                    with _Progress(self) as progress:
                        engine.run(GROUP, request, out, progress, is_cancelled)
                finally:
                    engine.close()

            try:
                run_in_order(work, lambda: engine.cancel(GROUP) if opened.is_set() else spark_kill())
            except Stopped:
                # A second signal did not wait for the study to put this away.
                spark_kill()
                shutil.rmtree(out / PART, ignore_errors=True)
                raise
        return result_json(out)

    def _print(self, result: dict[str, Any], request: dict[str, Any], out: Path) -> None:
        words = _words()
        advice = advise(result, request["weights"], request["constraints"])
        ranking = advice["ranking"]
        for line in feasible_words(advice["feasibility"], words):
            self.stdout.write(line)
        self.stdout.write("")
        rows = ranking_rows(result, ranking, words)
        for row in rows:
            for cell, more in (("skew", "band"), ("pause", "stood"), ("lag", "drain")):
                row[cell] += f" ({row[more]})" if row[more] else ""
        table = [
            COLUMNS,
            *(
                [row["place"], f"{row['model']} {row['name']}", *(row[name] for name in COLUMNS[2:])]
                for row in rows
            ),
        ]
        widths = [max(len(line[place]) for line in table) for place in range(len(COLUMNS))]
        for line in table:
            self.stdout.write(
                "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            )
        if sure := verdict_words(result, advice["verdict"], words):
            self.stdout.write(f"\n{sure}")
        self.stdout.write(f"\n{head(result, ranking, words)['facts']}")
        self.stdout.write(words["define"])
        for strategy in result["strategies"]:
            if suits := suits_words(strategy, result["steps"], words):
                self.stdout.write(f"{short_names(result['strategies'], words)[strategy['id']]}: {suits}")
        if left := unowned(result, words):
            self.stdout.write(left)
        said = notes(result)
        for note in [*said["warnings"], *said["notes"], said["sample"]]:
            if note is not None:
                self.stdout.write(fill(words[note["code"]], note["params"], words))
        if said["bad_rows"]:
            self.stdout.write(f"bad_rows.parquet: {_first_lines(out, said['bad_rows'])}")


def _words() -> Mapping[str, str]:
    languages = catalogue("analyze")
    return languages.get(get_language() or "en", languages["en"])


class _Progress:
    """One line a stage, and one a second within it while it gets on."""

    def __init__(self, command: BaseCommand) -> None:
        self.command, self.began, self.last = command, time.monotonic(), ("", 0.0)
        self.told: dict[str, Any] | None = None
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Progress:
        self.watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.watcher.join()

    def __call__(self, progress: dict[str, Any]) -> None:
        self.told = progress
        if progress["stage"] != self.last[0] or time.monotonic() - self.last[1] >= 1:
            self._say(progress)

    def _watch(self) -> None:
        """Ask how much is done of a stage that is one Spark job."""
        shown = 0
        while not self.over.wait(1):
            told = self.told
            if (
                told is not None
                and told.get("done_now") is not None
                and (done := told["done_now"]()) != shown
            ):
                shown = done
                self._say({**told, "done": done})

    def _say(self, progress: dict[str, Any]) -> None:
        now = time.monotonic()
        self.last = progress["stage"], now
        part = f" {progress['done']} of {progress['total']}" if progress["total"] > 1 else ""
        rows = f", {progress['rows']:,} records" if progress["rows"] else ""
        self.command.stderr.write(f"{now - self.began:6.1f} s  {progress['stage']}{part}{rows}")


def _size(source: dict[str, Any]) -> int:
    """Bytes of the source's files; 0 for the flights, which are few."""
    if "path" not in source:
        return 0
    path = Path(source["path"])
    return sum(
        file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()
    )


def _first_lines(out: Path, bad: int) -> str:
    """Where the first bad rows are: "lines 503, 704, ..."."""
    lines = [
        str(line)
        for line in pq.read_table(out / "bad_rows.parquet", columns=["line"])["line"].to_pylist()[
            :LINES_SHOWN
        ]
    ]
    return f"lines {', '.join(lines)}{', ...' if bad > len(lines) else ''}"
