"""What is wrong with a scenario file, and where."""

from broker_core.errors import SentenceError


class FileError(SentenceError):
    """A scenario file is wrong. line: from 1, 0 for the file as a whole. field: as the file writes it, "" for
    none.

    >>> str(FileError(12, "step 3, caption.zh", "is missing"))
    'line 12: step 3, caption.zh: is missing'
    """

    def __init__(self, line: int, field: str, template: str, **values: object) -> None:
        super().__init__(template, **values)
        self.line, self.field = line, field

    def __str__(self) -> str:
        return ": ".join(
            part for part in (f"line {self.line}" if self.line else "", self.field, self.reason) if part
        )
