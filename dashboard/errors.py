"""What a service refuses, in the form that every entrance answers: an HTTP status and texts by field."""

from collections.abc import Mapping

from django.utils.translation import gettext

from broker_core.errors import CommandError


class Refused(Exception):
    """A request that cannot be served; nothing was changed. fields: field name -> texts for a person."""

    def __init__(self, status: int, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in fields.items()))
        self.status = status
        self.fields = {name: [text] for name, text in fields.items()}


def in_words(error: CommandError) -> str:
    """The core's refusal in the language of whoever asked."""
    return gettext(error.template).format(**error.values) if error.values else gettext(error.template)
