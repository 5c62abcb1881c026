"""`python manage.py run_scenario FILE [--seed N] [--json]`: plays a scenario headless. docs/scenarios.md
shows what it prints.

FILE is a path, or the name of a scenario that comes along. Exit code 0: every check holds; 1: one fails; 2:
the file is wrong, with its line, or the lab refuses an order of it.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import override

from broker_core.errors import Names, SentenceError
from broker_core.lab.lesson.file import line_of_check, line_of_step, read_file, scenario_from_text, shelf
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lesson import Lesson, Step
from broker_core.lab.lesson.play import Came, OrderRefused, play
from broker_core.lab.lesson.texts import LANGUAGES
from broker_core.lab.scenario import Scenario
from dashboard.formats import clock, fill
from dashboard.lesson_words import asks_words, came_words
from dashboard.limits import core_limits
from dashboard.management.files import CODES, check_seed, language_here, refuse, wrong_file
from dashboard.sentences import catalogue

FAILED = 1


class Command(BaseCommand):
    help = "Play a scenario file headless and check its numbers; exit code 1 when one does not come true."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            metavar="FILE",
            help="a scenario file, or the name of one that comes along; left out: their list",
        )
        parser.add_argument(
            "--seed", type=int, metavar="N", help="instead of the file's; exact checks may then fail"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
        parser.add_argument(
            "--language", choices=LANGUAGES, help="of captions and checks (default: the server's)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        language = options["language"] or language_here()
        with override(CODES[language]):
            if options["file"] is None:
                self._print_list(language)
                return
            check_seed(options["seed"])
            self._run(_path(options["file"]), options, language)

    def _run(self, path: Path, options: dict[str, Any], language: str) -> None:
        text, scenario = _read(path, options["seed"])
        moments = _played(path, text, scenario)
        failed = (
            self._print_json(path, scenario, moments)
            if options["json"]
            else self._print(scenario, moments, language)
        )
        if failed:
            raise CommandError(f"{failed} of {len(_lesson(scenario).checks)} checks fail", returncode=FAILED)

    # -- output ----------------------------------------------------------------------------------------------

    def _print_list(self, language: str) -> None:
        names = shelf()
        width = max(map(len, names))
        for name, path in names.items():
            self.stdout.write(f"{name.ljust(width)}  {_lesson(_read(path, None)[1]).line[language]}")

    def _print(self, scenario: Scenario, moments: Iterator[Step | Came], language: str) -> int:
        lesson, words = _lesson(scenario), catalogue("stage")[CODES[language]]
        lanes = ", ".join(f"{lane.id} ({lane.algorithm})" for lane in scenario.lanes)
        self.stdout.write(
            f"{lesson.title[language]}\n{lanes} · seed {scenario.seed} · {clock(lesson.lasts_us)}"
        )
        self.stdout.write(f"\n{words['lesson.watch_for']}: {lesson.watch_for[language]}\n\n", ending="")
        came, failed = 0, 0
        for moment in moments:
            if isinstance(moment, Came):
                came, failed = came + 1, failed + (not moment.result["holds"])
                self.stdout.write(self._check_line(moment, words, language))
            else:
                for line in _step_lines(moment, language):
                    self.stdout.write(f"{clock(moment.at_us):>8}  {line}")
        self.stdout.write(f"\n{words['lesson.you_will_learn']}: {lesson.you_will_learn[language]}")
        self.stdout.write(
            "\n" + fill(words["lesson.all_hold"], {"count": came - failed, "total": came}, words)
        )
        return failed

    def _check_line(self, moment: Came, words: dict[str, str], language: str) -> str:
        check, result = moment.check, moment.result
        holds = words["check.holds" if result["holds"] else "check.fails"]
        style = self.style.SUCCESS if result["holds"] else self.style.ERROR
        what = f"{check.lane} {check.number}".strip()
        figures = f"{came_words(result, words)} ({words['lesson.asked']}: {asks_words(check.asks, words)})"
        return f"{clock(check.at_us):>8}  {style(f'[{holds}]')} {what} = {figures}: {check.says[language]}"

    def _print_json(self, path: Path, scenario: Scenario, moments: Iterator[Step | Came]) -> int:
        steps: list[Any] = []
        checks: list[Any] = []
        for moment in moments:
            if isinstance(moment, Came):
                check = moment.check
                checks.append(
                    {
                        "at_s": check.at_us / 1e6,
                        "lane": check.lane or None,
                        "number": check.number,
                        "asks": check.asks,
                        **moment.result,
                        "says": check.says,
                    }
                )
            else:
                order = {name: value for name, value in (moment.order or {}).items() if name != "command_id"}
                steps.append({"at_s": moment.at_us / 1e6, "caption": moment.caption, "order": order or None})
        failed = sum(not check["holds"] for check in checks)
        lesson = _lesson(scenario)
        answer = {
            "scenario": path.stem,
            "title": lesson.title,
            "seed": scenario.seed,
            "lasts_s": lesson.lasts_us / 1e6,
            "steps": steps,
            "checks": checks,
            "failed": failed,
            "holds": not failed,
        }
        self.stdout.write(json.dumps(answer, ensure_ascii=False))
        return failed


def _step_lines(step: Step, language: str) -> Iterator[str]:
    if step.caption is not None:
        yield step.caption[language]
    if step.order is not None:
        order = step.order
        parts = [
            order["kind"],
            order["consumer"],
            *(f"{name}={value}" for name, value in order["args"].items()),
        ]
        lane = "" if order["lane"] == "all" else f" lane={order['lane']}"
        yield "> " + " ".join(str(part) for part in parts if part is not None) + lane


# -- input ---------------------------------------------------------------------------------------------------


def _path(given: str) -> Path:
    path = Path(given)
    return path if path.exists() else shelf().get(given, path)


def _read(path: Path, seed: int | None) -> tuple[str, Scenario]:
    try:
        text = read_file(path)
        return text, scenario_from_text(text, seed, core_limits())
    except FileError as error:
        wrong_file(path, error.line, error.field, error)
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}; scenarios that come along: {', '.join(shelf())}")


def _played(path: Path, text: str, scenario: Scenario) -> Iterator[Step | Came]:
    """The run's moments. A file that asks for a number that there is not is as wrong as one that cannot be
    read."""
    try:
        for moment in play(scenario, core_limits()):
            if isinstance(moment, Came) and "missing" in moment.result:
                missing = moment.result["missing"]
                error = SentenceError(
                    "there is no {name} at {at}; there are: {known}",
                    name=missing["name"],
                    at=clock(moment.check.at_us),
                    known=Names(missing["known"]),
                )
                wrong_file(
                    path, line_of_check(text, moment.place), f"check {moment.place + 1}, number", error
                )
            yield moment
    except OrderRefused as refused:
        field = f"step {refused.place + 1}, {refused.error.field.removeprefix('args.')}"
        wrong_file(path, line_of_step(text, refused.place), field, refused.error)


def _lesson(scenario: Scenario) -> Lesson:
    assert scenario.lesson is not None, "a scenario file always has one"
    return scenario.lesson
