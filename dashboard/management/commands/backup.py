"""`python manage.py backup DIR`: this site's database, key and files into a new folder, while it runs
(docs/deploy.md)."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from dashboard.backup import CannotBackUp, backup


class Command(BaseCommand):
    help = (
        "Write the site's database, secret key, studies, uploads and logs into a new folder; the site may "
        "run meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", metavar="DIR", type=Path, help="a folder that is empty or not there yet"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            about = backup(options["folder"])
        except (CannotBackUp, DatabaseError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Backed up into {options['folder']} at {about['made_at']}.")
