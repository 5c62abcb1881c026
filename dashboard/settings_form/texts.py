"""A lab's settings as texts that make it: a TOML file, a curl command, a Python program."""

import json
import shlex
from pprint import pformat

import tomli_w

from broker_core.events import Json

PROGRAM = '''\
"""Makes the lab and prints its page and the token with which a program commands it."""

import json
from urllib.request import Request, urlopen

SITE = {site!r}
LAB = {lab}

request = Request(SITE + "/api/labs/", json.dumps(LAB).encode(), {{"Content-Type": "application/json"}})
with urlopen(request) as answer:
    made = json.load(answer)
print(f"{{SITE}}/lab/{{made['id']}}/", made["owner_token"])
'''


def texts_of(request: Json, site: str) -> dict[str, str]:
    """request: the body of POST /api/labs/ as it was checked. site: the address of this site, without a slash at the
    end."""
    return {
        "toml": toml_text(request, site),
        "curl": curl_text(request, site),
        "python": python_text(request, site),
    }


def toml_text(request: Json, site: str) -> str:
    """With the command that sends it."""
    send = f"curl {site}/api/labs/ -H 'Content-Type: application/toml' --data-binary @lab.toml"
    return f"# lab.toml: {send}\n{tomli_w.dumps(_without_none(request), multiline_strings=False)}"


def curl_text(request: Json, site: str) -> str:
    body = json.dumps(request, ensure_ascii=False)
    return f"curl {shlex.quote(f'{site}/api/labs/')} -H 'Content-Type: application/json' -d {shlex.quote(body)}\n"


def python_text(request: Json, site: str) -> str:
    return PROGRAM.format(site=site, lab=pformat(request, width=100, sort_dicts=False))


def _without_none(value: object) -> object:
    """TOML has no null; what is null is what is left out."""
    if isinstance(value, dict):
        return {name: _without_none(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_none(each) for each in value if each is not None]
    return value
