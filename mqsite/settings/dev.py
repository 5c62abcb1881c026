"""Settings of `make run`: plain HTTP on one's own machine or network. HIGHWATER_DEBUG=1 shows Django's error
pages."""

import os

from mqsite.settings.base import *  # noqa: F403

DEBUG = os.environ.get("HIGHWATER_DEBUG") == "1"
