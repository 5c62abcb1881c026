"""What a row holds as JSON, and what is done where it is cut or damaged: it is that row's alone.

A damaged value is read as `Damaged` and raises when it is used, so that a list of rows can be read although
one of them is damaged, a lab with such a row stops with its reason, and whoever asks for it learns which
column it is.
"""

import json
from collections.abc import Callable
from typing import Any, NoReturn

from django.db import models
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused


class DamagedRow(Refused):
    """What is stored in a column cannot be read."""

    def __init__(self, table: str, column: str) -> None:
        super().__init__(
            409,
            {table: _("cannot be read: what is stored as its %(column)s is damaged") % {"column": column}},
        )
        self.table, self.column = table, column


class Damaged:
    """In place of a value that cannot be read. Whatever is asked of it is refused."""

    def __init__(self, table: str, column: str) -> None:
        self.table, self.column = table, column

    def refuse(self, *_arguments: object) -> NoReturn:
        raise DamagedRow(self.table, self.column)

    __getitem__ = __iter__ = __len__ = __bool__ = __contains__ = refuse
    get = keys = items = values = refuse


def intact(value: Any) -> Any:
    """The value. Raises DamagedRow."""
    if isinstance(value, Damaged):
        value.refuse()
    return value


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_list(value: Any) -> bool:
    return isinstance(value, list)


def is_scenario(value: Any) -> bool:
    """Whether it has what pages and lists read of a scenario; the core checks the rest."""
    if not is_object(value) or not isinstance(value.get("name"), str) or "seed" not in value:
        return False
    workload, lanes = value.get("workload"), value.get("lanes")
    if not is_object(workload) or not isinstance(workload.get("kind"), str):
        return False
    return is_list(lanes) and all(is_object(lane) and "id" in lane for lane in lanes)


class StoredJson(models.JSONField):
    """A JSON column whose damaged values are read as Damaged. shape: whether a value can be one of this
    column's."""

    def __init__(self, *arguments: Any, shape: Callable[[Any], bool] = is_object, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.shape = shape

    def deconstruct(self) -> Any:
        """For migrations it is Django's own: the column is the same."""
        name, _path, arguments, options = super().deconstruct()
        return name, "django.db.models.JSONField", arguments, options

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """A damaged value is not copied into another row either."""
        return super().get_db_prep_value(intact(value), connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if value is None and self.null:
            return None
        try:
            if isinstance(value, str):
                value.encode()  # a text that is not UTF-8 was read as marked bytes
            found = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            found = None
        return found if self.shape(found) else Damaged(self.model._meta.model_name or "", self.name)


def object_in(text: Any) -> Json | None:
    """The JSON object that a text column holds; None where it is damaged."""
    try:
        found = json.loads(text.encode())
    except (AttributeError, ValueError, RecursionError):
        return None
    return found if is_object(found) else None
