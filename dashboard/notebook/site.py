"""What a lab needs of a site where none runs: a database, in a folder that goes with the program.

Jupyter runs cells within an event loop, in which Django lets nobody use a database: all of it is done in one thread
of its own.
"""

import logging
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

Made = TypeVar("Made")


def aside(work: Callable[[], Made]) -> Made:
    """Done in the site's thread; what it raises is raised here."""
    return _thread().submit(work).result()


@cache
def _thread() -> ThreadPoolExecutor:
    found = ThreadPoolExecutor(1, thread_name_prefix="highwater")
    found.submit(_begin).result()
    return found


def _begin() -> None:
    import django
    from django.apps import apps
    from django.core.management import call_command

    if apps.ready:  # within a site, or its tests
        return
    folder = _folder().name
    os.environ.update(HIGHWATER_RUN_DIR=folder, DJANGO_SETTINGS_MODULE="mqsite.settings.dev")
    os.environ.pop("DATABASE_URL", None)
    django.setup()
    call_command("migrate", verbosity=0)
    # There is no Redis, and nobody to tell.
    logging.getLogger("dashboard.labs.transport").setLevel(logging.CRITICAL)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="highwater-")
