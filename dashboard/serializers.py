"""JSON there and back, and TOML in, at the API's edge. msgspec reads strictly: no NaN, no broken surrogates, no trailing
text."""

from math import ceil
from typing import Any

import msgspec
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from broker_core.events import Json
from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lined import read_lined
from dashboard.errors import Refused, in_words
from dashboard.stored import intact


def _refuse_damaged(value: Any) -> None:
    """What msgspec knows no JSON for: of our own values only those that a row could not give."""
    intact(value)
    raise NotImplementedError(type(value).__name__)


TOML = "application/toml"
_encoder = msgspec.json.Encoder(enc_hook=_refuse_damaged)
NESTING_MAX = 16


def json_body(request: HttpRequest) -> Json:
    """The request's JSON object; an empty body is {}. Raises Refused 413, 415 or 400."""
    try:
        body = request.body
    except RequestDataTooBig as error:
        raise Refused(413, {"body": _("is too large")}) from error
    if not body:
        return {}
    if request.content_type != "application/json":
        raise Refused(415, {"body": _("must be application/json")})
    return json_object(body, "body")


def json_object(text: bytes, field: str) -> Json:
    """The JSON object in these bytes. Raises Refused 400 at the field."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(400, {field: _("must be JSON")}) from error
    if not isinstance(value, dict):
        raise Refused(400, {field: _("must be a JSON object")})
    if not _is_shallow(value, NESTING_MAX):
        raise Refused(400, {field: _("is nested too deeply")})
    return value


def toml_body(request: HttpRequest) -> Json:
    """The request's TOML document as the JSON that it stands for. Raises Refused 413 or 400, with the line."""
    try:
        if len(request.body) > BYTES_MAX:
            raise Refused(413, {"body": _("is too large")})
        document = read_lined(request.body.decode()).document
    except RequestDataTooBig as error:
        raise Refused(413, {"body": _("is too large")}) from error
    except UnicodeDecodeError as error:
        raise Refused(400, {"body": _("must be TOML in UTF-8")}) from error
    except FileError as error:
        place = _("line {line}").format(line=error.line)
        raise Refused(400, {"body": f"{place}: {in_words(error)}"}) from error
    value: Json = msgspec.json.decode(
        _encoder.encode(document)
    )  # a date becomes a text, as no setting takes one
    return value


def _is_shallow(value: Any, depth: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return (
        depth > 0 and all(_is_shallow(item, depth - 1) for item in value) if isinstance(value, list) else True
    )


def json_lines(values: list[Any]) -> bytes:
    """Each value on a line of its own."""
    return b"".join(_encoder.encode(value) + b"\n" for value in values)


def json_response(value: Any, status: int = 200) -> HttpResponse:
    response = HttpResponse(_encoder.encode(value), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def refusal_response(refused: Refused) -> HttpResponse:
    """The one form in which anything is refused: {fields: {name: [text]}}, with Retry-After where it is
    known."""
    return retry_after(json_response({"fields": refused.fields}, refused.status), refused)


def retry_after(response: HttpResponse, refused: Refused) -> HttpResponse:
    """The same answer, with Retry-After where it is known."""
    if refused.again_s is not None:
        response["Retry-After"] = str(max(1, ceil(refused.again_s)))
    return response
