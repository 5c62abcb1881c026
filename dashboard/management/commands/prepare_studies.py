"""`python manage.py prepare_studies`: makes Spark's classes and our kernels ready, so that each study starts
in a fraction of the time."""

import subprocess
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.studies.preparation import SparkUnavailable, prepare


class Command(BaseCommand):
    help = (
        "Make Spark's classes and the compiled kernels ready, once; studies start in a fraction of the time."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            archive = prepare()
        except (SparkUnavailable, OSError, subprocess.SubprocessError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            "Another process prepares them." if archive is None else f"Spark's classes are in {archive}"
        )
