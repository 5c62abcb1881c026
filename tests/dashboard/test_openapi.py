"""The OpenAPI document names every route below /api/ and every method that it takes; nothing that fits it, or does not,
is answered by a fault of the server."""

import json
from typing import Any

import pytest
import schemathesis
from django.conf import settings as configured
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as tried
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from broker_core.lab.settings import LANE_SETTINGS
from dashboard.labs import services
from dashboard.labs.services import OpenedLab
from dashboard.openapi.document import document, routes
from dashboard.openapi.operations import OPERATIONS
from dashboard.sentences import LANGUAGES, SENTENCES
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db(transaction=True)

METHODS = ("get", "post", "put", "patch", "delete")
EXAMPLES = 8
SETTINGS_TRIED = 3
LANES = [{"model": "pulsar"}, {"model": "rabbitmq"}, {"model": "kafka", "brokers": 1, "partitions": 2}]


def test_every_route_is_described_and_no_other() -> None:
    assert {operation.route for operation in OPERATIONS} == set(routes())
    described = {(operation.route, operation.method) for operation in OPERATIONS}
    assert len(described) == len(OPERATIONS)
    assert {operation.code for operation in OPERATIONS} <= set(SENTENCES)


@pytest.mark.parametrize("route", sorted({operation.route for operation in OPERATIONS}))
def test_a_method_that_is_not_described_is_refused(route: str) -> None:
    described = {operation.method.lower() for operation in OPERATIONS if operation.route == route}
    path = routes()[route]
    for place in (
        "lab_id",
        "study_id",
        "log_id",
        "command_id",
        "question",
        "table",
        "file_format",
        "lane",
        "capsule",
    ):
        path = path.replace(f"{{{place}}}", "x")
    for method in set(METHODS) - described:
        assert getattr(Client(), method)(path).status_code == 405, (method, path)


def test_a_labs_bounds_are_those_of_its_settings(client: Client) -> None:
    schemas = client.get("/api/openapi.json").json()["components"]["schemas"]
    for model, lane_settings in LANE_SETTINGS.items():
        properties = schemas[f"Lane_{model}"]["properties"]
        assert set(properties) == {"model", "id", "algorithm", *(each.name for each in lane_settings)}
    assert schemas["Lane_kafka"]["properties"]["acks"]["enum"] == [-1, 0, 1]
    assert schemas["LabRequest"]["properties"]["consumers"]["maximum"] == configured.CONSUMERS_PER_LANE_MAX


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_shows_every_call_in_both_languages_without_another_host(
    client: Client, language: str
) -> None:
    page = client.get("/api/", headers={"accept-language": language}).content.decode()
    assert page.split('id="bodies"')[0].count('class="call"') == len(OPERATIONS)
    assert "unclean_election" in page
    assert "//" not in page.split("</head>")[0].replace("http://testserver", "")
    said = client.get("/api/openapi.json", headers={"accept-language": language}).json()
    assert (said["tags"][0]["description"] == "Labs and commands") == (language == "en")


@pytest.fixture
def lab(world: World, settings: Any) -> OpenedLab:
    """One with a lane for each question, that has come to a view."""
    settings.PAST_WAIT_S = 0.1  # there is no worker that looks back
    opened = services.lab_open(request={"lanes": LANES, "workload": {"kind": "uniform"}, "consumers": 2})
    world.transport.watching.add(opened.lab.pk)
    world.run(0.2)
    return opened


def tried_document() -> dict[str, Any]:
    """With a few settings a lane: an object of fifty that may all be left out takes seconds to make up, and each bound is
    tried in tests/core/lab/test_settings.py."""
    made: dict[str, Any] = json.loads(json.dumps(document()))
    for name, lane_schema in made["components"]["schemas"].items():
        if name.startswith("Lane_"):
            lane_schema["properties"] = dict(list(lane_schema["properties"].items())[:SETTINGS_TRIED])
    return made


schema = schemathesis.openapi.from_dict(tried_document())
schema.app = WSGIHandler()


CALLS = {f"{each.ok().method.upper()} {each.ok().path}": each.ok() for each in schema.get_all_operations()}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_whatever_is_sent_is_answered_or_refused(call: str, lab: OpenedLab) -> None:
    """To a lab that runs, as its owner: never a 5xx but for a server that is busy, and what is granted has the fields that
    the document names."""
    fits = CALLS[call].as_strategy(generation_mode=GenerationMode.POSITIVE)
    fits_not = CALLS[call].as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @given(case=fits | fits_not if CALLS[call].body or CALLS[call].query else fits)
    @tried(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
    )
    def answered(case: Any) -> None:
        if "lab_id" in case.path_parameters:
            case.path_parameters["lab_id"] = lab.lab.pk
        answer = case.call(headers={"Accept-Language": "en", "Authorization": f"Bearer {lab.owner_token}"})
        if answer.status_code == 503:
            assert answer.json()["fields"]
            return
        case.validate_response(answer, checks=[not_a_server_error, response_schema_conformance])

    answered()
