"""A run handed to a site of Highwater, which makes a lab of it. The site checks the file; here is only what a request needs."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from broker_core.errors import CommandError

TIMEOUT_S = 30.0
NAME_MAX = 64
PLACE = "/api/labs/open/"
CREATED = 201


def open_on_site(path: Path, site: str) -> str:
    """The address of the lab that the site has made of this file, with the lab's token: it is whose browser opens it. site: its
    address. Raises CommandError at `file` or `site`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CommandError("file", "cannot be read: {why}", why=error.strerror or str(error)) from None
    root = site.rstrip("/")
    status, answer = _sent(root, data, path.stem[:NAME_MAX])
    if status == CREATED and isinstance(answer.get("id"), str):
        token = answer.get("owner_token")
        own = f"#own={token}" if isinstance(token, str) else ""
        return f"{root}/lab/{answer['id']}/rabbitmq/{own}"
    fields = answer.get("fields")
    if isinstance(fields, dict) and fields:
        field, texts = next(iter(fields.items()))
        raise CommandError(str(field), "{said}", said=" ".join(map(str, texts)))
    raise CommandError(
        "site", "{site} answers {status}: is it a site of Highwater?", site=root, status=status
    )


def _sent(root: str, data: bytes, name: str) -> tuple[int, dict[str, Any]]:
    """(status, the answer's object). Raises CommandError."""
    try:
        parts = urlsplit(root)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise CommandError("site", "must be an address such as http://127.0.0.1:8000")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        connection = kind(host, port, timeout=TIMEOUT_S)
        headers = {"Content-Type": "application/octet-stream", "Accept": "application/json"}
        connection.request("POST", f"{parts.path}{PLACE}?name={quote(name)}", data, headers)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, ValueError, HTTPException) as error:
        raise CommandError(
            "site",
            "nothing answers at {site} ({why}): start a site with `make run` in a checkout of Highwater, or name another with --site",
            site=root, why=getattr(error, "strerror", None) or str(error),
        ) from None  # fmt: skip
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = {}
    return answer.status, found if isinstance(found, dict) else {}
