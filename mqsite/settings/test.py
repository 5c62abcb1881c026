"""Settings of the tests: a database file in their own run folder, so that threads and processes can share
it."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("HIGHWATER_RUN_DIR", tempfile.mkdtemp(prefix="highwater-test-"))
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    # Each worker of xdist has its own folder below the one that they all inherit; what a worker starts stays
    # in the worker's.
    inherited = Path(os.environ["HIGHWATER_RUN_DIR"])
    os.environ["HIGHWATER_RUN_DIR"] = str(inherited if inherited.name == worker else inherited / worker)
os.environ.setdefault("HIGHWATER_SECRET_KEY", "only the tests know this key, and it guards nothing at all")

from mqsite.settings.base import *  # noqa: E402, F403
from mqsite.settings.base import RUN_DIR, SQLITE, STORAGES  # noqa: E402

CLIENTS_ON = False
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
DATABASES = (
    {"default": {**SQLITE, "TEST": {"NAME": RUN_DIR / "test.sqlite3"}}}
    if not os.environ.get("DATABASE_URL")
    else DATABASES
)  # noqa: E501, F405
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
