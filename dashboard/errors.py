"""What a service refuses, in the form that every entrance answers: an HTTP status and texts by field."""

from collections.abc import Iterable, Mapping

from django.utils import translation
from django.utils.translation import gettext

from broker_core.errors import CommandError, Names, SentenceError
from dashboard.formats import number
from dashboard.sentences import LANGUAGES


class Refused(Exception):
    """A request that cannot be served; nothing was changed. fields: field name -> texts for a person.
    again_s: when to try again, in seconds."""

    def __init__(self, status: int, fields: Mapping[str, str], again_s: float | None = None) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in fields.items()))
        self.status = status
        self.again_s = again_s
        self.fields = {name: [text] for name, text in fields.items()}


def listed(names: Iterable[str]) -> str:
    """Names one after the other, as the reader's language writes them."""
    return gettext(", ").join(names)


def in_words(error: SentenceError) -> str:
    """The core's refusal in the language of the person who asked, its numbers as on every page. A value may
    be a sentence itself."""
    values = {name: _in_words(value) for name, value in error.values.items()}
    return gettext(error.template).format(**values) if values else gettext(error.template)


def fields_of(error: CommandError) -> dict[str, str]:
    """Field -> what is wrong there, of all that a refusal names."""
    return {each.field: in_words(each) for each in (error, *error.others)}


def texts_of(error: CommandError) -> dict[str, list[str]]:
    """The same, as a form takes them."""
    return {field: [text] for field, text in fields_of(error).items()}


def _in_words(value: object) -> object:
    if isinstance(value, SentenceError):
        return in_words(value)
    if isinstance(value, Names):
        return listed(value.each)
    return number(value) if type(value) is int else value


def in_all_words(error: CommandError) -> dict[str, str]:
    """Language of the pages -> the core's refusal in it."""
    words = {}
    for language in LANGUAGES:
        with translation.override(language):
            words[language] = in_words(error)
    return words
