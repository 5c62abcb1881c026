"""`python manage.py dump_log PATH`: segments, indexes and records of a Kafka log, ours or a real Kafka's.

PATH is a partition's folder or one of its files. Nothing is changed. docs/kafka/log.md shows what it prints.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from broker_core.kafka.log.dump import NotALogFile, dump_path


class Command(BaseCommand):
    help = "Print the segments, indexes and records of a Kafka log, as kafka-dump-log does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a partition's folder, or one of its files")
        parser.add_argument("--deep", action="store_true", help="the records of each batch too")
        parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for row in dump_path(options["path"], deep=options["deep"]):
                self.stdout.write(
                    json.dumps({"kind": row.kind, **row.fields}) if options["json"] else row.text()
                )
        except BrokenPipeError:
            # The reader has seen enough, as `head` has; what is still buffered would fail again at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except NotALogFile as error:
            raise CommandError(f"{options['path']}: {error}") from None
        except OSError as error:
            raise CommandError(f"{options['path']} cannot be read: {error.strerror}") from None
