"""A lesson's texts: each in all languages."""

import re
import unicodedata

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown

LANGUAGES = ("en", "zh")
Text = dict[str, str]
"""Language -> text: all of LANGUAGES."""
_FULL_WIDTH = re.compile(r"[\u3000-\u303f\uff00-\uffef]")  # brings its own room


def text_of(raw: Json, name: str, where: str, most: int) -> Text:
    """A text in all languages, each on its own; blanks and line ends at its edges go."""
    where = f"{where}.{name}"
    texts = raw.get(name)
    if texts is None:
        raise CommandError(
            where, "is missing: a text in each language, {languages}", languages=Names(LANGUAGES)
        )
    if not isinstance(texts, dict):
        raise CommandError(where, "must be a text in each language: {name}.en and {name}.zh", name=name)
    refuse_unknown(texts, LANGUAGES, f"{where}.", where)
    read: Text = {}
    for language in LANGUAGES:
        text = texts.get(language)
        if text is None:
            raise CommandError(
                f"{where}.{language}",
                "is missing: every text is in each language, {languages}",
                languages=Names(LANGUAGES),
            )
        if not isinstance(text, str) or not 1 <= len(text.strip()) <= most:
            raise CommandError(f"{where}.{language}", "must be a text of 1 to {high} characters", high=most)
        if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in "".join(text.split())):
            raise CommandError(f"{where}.{language}", "must not hold control characters")
        read[language] = " ".join(text.split()) if language == "en" else "".join(_joined(text))
    return read


def _joined(text: str) -> list[str]:
    """Lines of Chinese put together: a blank only where a Latin letter or digit meets a Chinese one, or
    another of its kind."""
    parts: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if (
            parts
            and (parts[-1][-1].isascii() or line[0].isascii())
            and not _FULL_WIDTH.search(parts[-1][-1] + line[0])
        ):
            parts.append(" ")
        parts.append(line)
    return parts
