"""The interface for programs: /api/ to read, /api/openapi.json for tools."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.openapi.document import document
from dashboard.openapi.operations import GROUPS
from dashboard.page import base_context
from dashboard.serializers import json_response
from dashboard.views.api import api

Json = dict[str, Any]
ANY = "…"
ANSWERS = ("Lab", "OpenedLab", "Refusal")


@api("GET")
def openapi(request: HttpRequest) -> HttpResponse:
    """The document."""
    return json_response(document())


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The same document, drawn by the server: no script of others, no request elsewhere."""
    made = document()
    calls = [
        _call(path, method, operation, made["components"]["schemas"])
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
    ]
    groups = [{"id": group, "calls": [call for call in calls if call["group"] == group]} for group in GROUPS]
    site = request.build_absolute_uri("/").rstrip("/")
    schemas = made["components"]["schemas"]
    parts = [
        {"name": name, "fields": _fields(schemas[name], schemas)} for name in schemas if name not in ANSWERS
    ]
    context = {**base_context(request, "api"), "groups": groups, "site": site, "parts": parts}
    return render(request, "dashboard/api.html", context)


def _call(path: str, method: str, operation: Json, schemas: Json) -> Json:
    status = next(iter(operation["responses"]))
    granted = next(iter(operation["responses"][status].get("content", {"": {}}).values())).get("schema", {})
    body = next(iter(operation.get("requestBody", {"content": {"": {}}})["content"].values())).get("schema")
    return {
        "id": operation["operationId"],
        "code": f"api.{operation['operationId'].rpartition('-')[0]}.{method}",
        "group": operation["tags"][0],
        "method": method.upper(),
        "path": path,
        "status": status,
        "query": [
            {"name": each["name"], "is_needed": each["required"], "takes": _takes(each["schema"], schemas)}
            for each in operation["parameters"]
            if each["in"] == "query"
        ],
        "body": None if body is None else _fields(body, schemas),
        "answers": ", ".join(_resolved(granted, schemas).get("required", [])) or ANY,
    }


def _fields(schema: Json, schemas: Json) -> list[Json]:
    found = _resolved(schema, schemas)
    return [
        {
            "name": name,
            "is_needed": name in found.get("required", []),
            "takes": _takes(each, schemas),
            "about": each.get("description", ""),
        }
        for name, each in found.get("properties", {}).items()
    ]


def _resolved(schema: Json, schemas: Json) -> Json:
    found: Json = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def _takes(schema: Json, schemas: Json) -> str:
    """What a value may be, on one line: "integer 0..512", "kafka, document", "array"."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " | ".join(_takes(each, schemas) for each in schema["anyOf"])
    if schema.get("type") == "array" and schema.get("items"):
        return f"array: {_takes(schema['items'], schemas)}"
    kind = schema.get("type", ANY)
    kind = " | ".join(kind) if isinstance(kind, list) else kind
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and high is None:
        return str(kind)
    return f"{kind} {'' if low is None else low}..{'' if high is None else high}"
