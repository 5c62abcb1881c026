"""What a service refuses, in the form that every entrance answers: an HTTP status and texts by field."""

from collections.abc import Mapping


class Refused(Exception):
    """A request that cannot be served; nothing was changed. fields: field name -> texts for a person."""

    def __init__(self, status: int, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in fields.items()))
        self.status = status
        self.fields = {name: [text] for name, text in fields.items()}
