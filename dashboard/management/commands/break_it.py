"""`python manage.py break_it FILE [--seconds N] [--tries N] [--seed N] [--json]`: searches for the shortest schedule that
breaks the promise of a file. docs/break.md shows what it prints.

FILE is a path, or the name of a case that comes along. Exit code 0: no try broke it; 1: one did; 2: the file is wrong,
with its line.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import override

from broker_core.lab.breaking.file import Stated, cases, stated_in
from broker_core.lab.breaking.search import DONE, Search
from broker_core.lab.lesson.file import read_file
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.texts import LANGUAGES
from broker_core.lab.pieces import whole
from dashboard.breaking_words import fault_words, outcome_words, promise_words
from dashboard.formats import clock
from dashboard.limits import core_limits
from dashboard.management.files import CODES, check_seed, language_here, refuse, wrong_file
from dashboard.sentences import catalogue

BROKE = 1
SECONDS = 20.0


class Command(BaseCommand):
    help = "Search for the shortest schedule of faults that breaks a promise; exit code 1 when one does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            metavar="FILE",
            help="a file, or the name of one that comes along; left out: their list",
        )
        parser.add_argument(
            "--seconds",
            type=float,
            default=SECONDS,
            metavar="N",
            help=f"how long to search (default {SECONDS:g})",
        )
        parser.add_argument(
            "--tries", type=int, metavar="N", help="how many tries at most; the seconds do not count then"
        )
        parser.add_argument("--seed", type=int, metavar="N", help="of the search (default: the scenario's)")
        parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
        parser.add_argument("--language", choices=LANGUAGES, help="of the words (default: the server's)")

    def handle(self, *args: Any, **options: Any) -> None:
        language = options["language"] or language_here()
        with override(CODES[language]):
            if options["file"] is None:
                names = cases()
                width = max(map(len, names))
                for name, path in names.items():
                    self.stdout.write(f"{name.ljust(width)}  {_read(path).line[language]}")
                return
            check_seed(options["seed"])
            for name, low in (("seconds", 0), ("tries", 1)):
                if options[name] is not None and not options[name] >= low:
                    refuse(f"--{name}: must be {low} or more")
            stated = _read(cases().get(options["file"], Path(options["file"])))
            search = _searched(stated, options)
            self._print_json(stated, search) if options["json"] else self._print(stated, search, language)
        if search.broken is not None:
            raise CommandError("the promise broke", returncode=BROKE)

    def _print(self, stated: Stated, search: Search, language: str) -> None:
        words = catalogue("break")[CODES[language]]
        lane = stated.case.lane
        self.stdout.write(
            f"{stated.title[language]}\n{lane.id} ({lane.algorithm}) · seed {search.seed} · {clock(stated.case.lasts_us)}"
        )
        self.stdout.write(f"{words['break.promise']}: {promise_words(stated.case.promise, words)}")
        self.stdout.write(outcome_words(search.tries, search.broken is not None, words))
        if search.broken is not None and search.moment_us is not None:
            for fault in search.broken.schedule:
                self.stdout.write(f"{fault.at_us / 1e6:>8.3f} s  {fault_words(fault, words)}")
            self.stdout.write(f"{search.moment_us / 1e6:>8.3f} s  {self.style.ERROR(words['break.moment'])}")

    def _print_json(self, stated: Stated, search: Search) -> None:
        answer = {
            "title": stated.title,
            "promise": stated.case.promise.to_json(),
            "seed": search.seed,
            "tries": search.tries,
            "broken": search.broken is not None,
            "schedule": [fault.to_json() for fault in search.broken.schedule] if search.broken else None,
            "moment_us": search.moment_us,
        }
        self.stdout.write(json.dumps(answer, ensure_ascii=False))


def _searched(stated: Stated, options: dict[str, Any]) -> Search:
    """The search, ended by its outcome, its tries or its time; what it found has its moment. Half as long again may go
    into making it shorter."""
    seed = stated.case.scenario.seed if options["seed"] is None else options["seed"]
    search, began_s = Search(stated.case, seed, core_limits()), time.monotonic()
    tries: int | None = options["tries"]
    while search.phase != DONE:
        if tries is not None:
            if search.broken is None and search.tries >= tries:
                break
        elif time.monotonic() - began_s > options["seconds"] * (1.5 if search.broken else 1):
            whole(search.settle())
            break
        whole(search.trying())
    return search


def _read(path: Path) -> Stated:
    try:
        return stated_in(read_file(path), core_limits())
    except FileError as error:
        wrong_file(path, error.line, error.field, error)
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}; cases that come along: {', '.join(cases())}")
