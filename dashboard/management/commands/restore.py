"""`python manage.py restore DIR`: a site made again from what `manage.py backup` wrote, in an empty run
folder (docs/deploy.md)."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from dashboard.backup import CannotBackUp, restore


class Command(BaseCommand):
    help = "Fill an empty run folder (HIGHWATER_RUN_DIR) and database from a backup; then start the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            about = restore(options["folder"])
        except (CannotBackUp, DatabaseError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored the backup of {about['made_at']}. Start the site: it brings the database up to date."
        )
