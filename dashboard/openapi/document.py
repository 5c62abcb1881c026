"""The OpenAPI document of all routes below /api/, made by apispec, in the language of the page."""

import re
from collections.abc import Iterator
from functools import cache

from apispec import APISpec
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.translation import get_language, override

from broker_core.events import Json
from dashboard.openapi.operations import OPERATIONS, Operation
from dashboard.openapi.schemas import components
from dashboard.sentences import SENTENCES

BELOW = "api/"
BEARER = "bearer"
_PLACE = re.compile(r"<(?:\w+:)?(\w+)>")
_OF_SERVER = ("503", "507")
"""Answers of a server that is busy or full, with Retry-After: no fault of either side."""


def routes() -> dict[str, str]:
    """Name of each route below /api/ -> its path as OpenAPI writes it. A new route is here at once, and has to be
    described (tests/dashboard/test_openapi.py)."""
    found = {}
    for name, path in _patterns(get_resolver().url_patterns):
        if path.startswith(BELOW) and path != BELOW:
            found[name] = "/" + _PLACE.sub(r"{\1}", path)
    return found


def document() -> Json:
    """In the reader's language."""
    return _document("zh-hans" if (get_language() or "en").startswith("zh") else "en")


@cache
def _document(language: str) -> Json:
    with override(language):
        spec = APISpec(
            title="Highwater",
            version="1",
            openapi_version="3.1.0",
            info={"description": str(SENTENCES["api.sub"])},
            tags=[
                {"name": group, "description": str(SENTENCES[f"api.group.{group}"])} for group in _groups()
            ],
        )
        spec.components.security_scheme(BEARER, {"type": "http", "scheme": "bearer"})
        for name, schema in components().items():
            spec.components.schema(name, schema)
        paths = routes()
        for operation in OPERATIONS:
            path = paths[operation.route]
            spec.path(path=path, operations={operation.method.lower(): _described(operation, path)})
        made: Json = spec.to_dict()
        return made


def _described(operation: Operation, path: str) -> Json:
    places = re.findall(r"{(\w+)}", path)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in places
    ]
    for name, schema in operation.query.items():
        parameters.append(
            {"name": name, "in": "query", "required": name in operation.needs, "schema": schema}
        )
    refused = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}}
    granted: Json = {"description": str(SENTENCES["api.granted"])}
    if operation.status != 204:
        granted["content"] = {operation.media: {"schema": operation.answer}}
    found: Json = {
        "operationId": f"{operation.route}-{operation.method.lower()}",
        "tags": [operation.group],
        "summary": str(SENTENCES[operation.code]),
        "parameters": parameters,
        "responses": {
            str(operation.status): granted,
            "4XX": {"description": str(SENTENCES["api.refused"]), **refused},
            **{status: {"description": str(SENTENCES["api.busy"]), **refused} for status in _OF_SERVER},
        },
    }
    if operation.method != "GET":
        found["security"] = [{BEARER: []}, {}]
    if operation.body is not None:
        found["requestBody"] = {"content": {"application/json": {"schema": operation.body}}}
    if operation.form is not None:
        found["requestBody"] = {"content": {"multipart/form-data": {"schema": operation.form}}}
    return found


def _groups() -> list[str]:
    return list(dict.fromkeys(operation.group for operation in OPERATIONS))


def _patterns(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, str]]:
    for each in patterns:
        path = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _patterns(each.url_patterns, path)
        else:
            yield each.name or "", path
