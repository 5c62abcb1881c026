"""What the commands that read a file share: how they refuse one, and in which language they speak."""

from pathlib import Path
from typing import NoReturn

from django.core.management.base import CommandError
from django.utils.translation import get_language, gettext

from broker_core.errors import SentenceError
from broker_core.lab.settings import SEED_MAX

WRONG_INPUT = 2
"""The exit code."""
CODES = {"en": "en", "zh": "zh-hans"}


def language_here() -> str:
    """The server's language, as files name it."""
    return "zh" if (get_language() or "en").startswith("zh") else "en"


def check_seed(seed: int | None) -> None:
    """Refuse one that no lab has."""
    if seed is not None and not 0 <= seed <= SEED_MAX:
        refuse(f"--seed: must be a whole number from 0 to {SEED_MAX}")


def wrong_file(path: Path, line: int, field: str, error: SentenceError) -> NoReturn:
    """Say what is wrong with a file, and where. line: 0 for the file as a whole."""
    reason = gettext(error.template).format(**error.values) if error.values else gettext(error.template)
    refuse(": ".join(part for part in (f"{path}, line {line}" if line else str(path), field, reason) if part))


def refuse(text: str) -> NoReturn:
    raise CommandError(text, returncode=WRONG_INPUT)
