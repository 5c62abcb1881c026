"""What all tests share: the settings they run under, in a run folder of their own."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.test")
