"""Texts without addresses: `str(assign)` is `<function assign>` here, in every process."""

import re
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]*")


def plain(text: str) -> str:
    return _ADDRESS.sub("", text) if " at 0x" in text else text


class _TextType(type):
    """`str` to the text of an assignor: makes texts without addresses, and is `str` in all else."""

    def __call__(cls, *given: Any, **named: Any) -> str:
        return plain(str(*given, **named))

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, str)

    def __getattr__(cls, name: str) -> Any:
        return getattr(str, name)


class Text(metaclass=_TextType):
    pass


Text.__name__ = Text.__qualname__ = "str"
_TURNED = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def shown(value: Any, conversion: int) -> Any:
    """A value in an f-string. conversion: after its `!`, -1 for none. Numbers stay, for the format that may
    follow."""
    if conversion == -1 and isinstance(value, (int, float, str)):
        return value
    return plain(_TURNED.get(conversion, str)(value))


def represented(value: Any) -> str:
    return plain(repr(value))
