"""`python manage.py record_stills [LESSON ...]`: plays lessons to their key frames and writes the numbers that
their stills are drawn from; without a name, of all lessons. A lesson that has changed is recorded again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.stills.recorded import record, recorded


class Command(BaseCommand):
    help = "Play lessons to their key frames, and record the numbers that their stills are drawn from."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("lessons", nargs="*", metavar="LESSON", help="left out: all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        before = recorded()
        try:
            after = record(options["lessons"])
        except KeyError as unknown:
            raise CommandError(f"there is no lesson {unknown}") from unknown
        changed = [name for name in after if after[name] != before.get(name)]
        gone = [name for name in before if name not in after]
        for name in (*changed, *gone):
            self.stdout.write(name)
        self.stdout.write(f"{len(changed)} of {len(after)} stills are others than before")
