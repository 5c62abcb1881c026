"""Values as the server, which is written in Erlang, prints them in its refusals (~p).

Source: Erlang/OTP 25 io_lib_pretty, seen in recorded refusals. Left out: it breaks what is longer than 80 letters
into lines.
"""

from __future__ import annotations

from decimal import Decimal

from broker_core.rabbitmq.values import TYPE_NAMES, Value, bare, type_of


def binary(octets: bytes) -> str:
    r"""A binary: as text when every octet prints in Latin-1, else octet by octet.

    >>> binary(b"all"), binary(b""), binary(b"\x00a"), binary(b'a"b')
    ('<<"all">>', '<<>>', '<<0,97>>', '<<"a\\"b">>')
    """
    if not octets:
        return "<<>>"
    if all(octet in _ESCAPES or 32 <= octet <= 126 or octet >= 160 for octet in octets):
        # A letter of Latin-1 is one octet of the reply text, which the client reads as UTF-8.
        text = "".join(_ESCAPES.get(octet, chr(octet)) for octet in octets)
        return f'<<"{text.encode("latin-1").decode(errors="replace")}">>'
    return listed(octets)


def listed(octets: bytes) -> str:
    """A binary, always octet by octet (~w).

    >>> listed(b"all")
    '<<97,108,108>>'
    """
    return f"<<{','.join(map(str, octets))}>>"


def term(value: Value) -> str:
    """A table value, without its own type; within arrays and tables each has its type beside it.

    >>> term(1), term(True), term(None), term(1e22), term(["all"]), term({"a": {"$t": "l", "v": 2}})
    ('1', 'true', 'undefined', '1.0e22', '[{longstr,<<"all">>}]', '[{<<"a">>,long,2}]')
    """
    letter, inner = type_of(value), bare(value)
    match letter:
        case "t":
            return "true" if inner else "false"
        case "V":
            return "undefined"
        case "S":
            return binary(bytes.fromhex(inner["hex"]) if isinstance(inner, dict) else inner.encode())
        case "x":
            return binary(bytes.fromhex(inner))
        case "D":
            return "{" + ",".join(map(str, inner)) + "}"
        case "A":
            return "[" + ",".join(f"{{{_typed(each)}}}" for each in inner) + "]"
        case "F":
            rows = (f"{{{binary(name.encode())},{_typed(each)}}}" for name, each in inner.items())
            return f"[{','.join(rows)}]"
        case "f" | "d":
            return _float(float(inner))
        case _:
            return str(inner)


def _typed(value: Value) -> str:
    return f"{TYPE_NAMES[type_of(value)]},{term(value)}"


def _float(number: float) -> str:
    """The shortest digits that read back as the same number; with an exponent where that is shorter.

    >>> [_float(number) for number in (1.5, 100.0, 1000.0, 123456.0, 0.001, -2e-7)]
    ['1.5', '100.0', '1.0e3', '123456.0', '0.001', '-2.0e-7']
    """
    sign, numbers, places = Decimal(repr(number)).normalize().as_tuple()
    digits, point = "".join(map(str, numbers)), len(numbers) + int(places)
    exponent = str(point - 1)
    cost = len(exponent) + (3 if len(digits) == 1 else 2)
    if number == 0:
        text = "0.0"
    elif 0 < point < len(digits):
        text = f"{digits[:point]}.{digits[point:]}"
    elif point <= 0 and (point == 0 or 2 - point <= cost):
        text = f"0.{'0' * -point}{digits}"
    elif point > 0 and point - len(digits) + 2 <= cost:
        text = f"{digits}{'0' * (point - len(digits))}.0"
    else:
        text = f"{digits[0]}.{digits[1:] or '0'}e{exponent}"
    return "-" * sign + text


_ESCAPES = {
    ord('"'): '\\"', ord("\\"): "\\\\", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 27: "\\e",
}  # fmt: skip
