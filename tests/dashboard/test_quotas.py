"""What one network address may have, and everybody together: nobody uses up everything, and who comes new
finds a place."""

import json
import re
import time
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory
from django.utils import timezone

from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from dashboard import address as addresses
from dashboard.address import address_of, client_address
from dashboard.doors import Doors
from dashboard.errors import Refused
from dashboard.labs import services
from dashboard.models import Lab, Study, Upload
from dashboard.quotas import Quota, in_about
from dashboard.serializers import refusal_response
from dashboard.studies import services as studies
from tests.dashboard.world import World

LOG = bytes(encode_batch([Record(0, 1_000, b"k", b"v")]).data)
HERE, THERE = "a" * 32, "b" * 32


# -- the address ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "client"),
    [
        # nobody is trusted: the header is anybody's
        ("192.0.2.7", "203.0.113.9", [], "192.0.2.7"),
        ("192.0.2.7", "203.0.113.9", ["10.0.0.0/8"], "192.0.2.7"),                       # nor is this peer
        ("10.0.0.1", "203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"),
        # what the client wrote before it came to the proxy
        ("10.0.0.1", "198.51.100.1, 203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.2.2.2", ["10.0.0.0/8"], "203.0.113.9"),            # two proxies
        ("10.0.0.1", "10.9.9.9", ["10.0.0.0/8"], "10.9.9.9"),
        ("10.0.0.1", "nonsense", ["10.0.0.0/8"], "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9:4711", ["10.0.0.0/8"], "203.0.113.9"),
        ("10.0.0.1", "[2001:db8:1:2::5]:80", ["10.0.0.0/8"], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "", [], "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "", [], "fe80::/64"),
        ("::ffff:10.0.0.1", "203.0.113.9", ["10.0.0.0/8"], "203.0.113.9"),
        ("", "203.0.113.9", ["0.0.0.0/0"], "unknown"),
    ],
)  # fmt: skip
def test_client_behind_a_peer(
    settings: Any, peer: str, forwarded: str, trusted: list[str], client: str
) -> None:
    settings.TRUSTED_PROXIES = [ip_network(text) for text in trusted]
    assert client_address(peer, forwarded) == client


def test_only_a_keyed_hash_is_kept(settings: Any) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7")
    first = address_of(request)
    assert "192.0.2.7" not in first and len(first) == 32
    assert addresses.address_of_socket({"client": ["192.0.2.7", 1], "headers": []}) == first
    settings.SECRET_KEY = "another"
    assert address_of(request) != first


# -- the rule ------------------------------------------------------------------------------------------------


def refusal(quota: Quota, mine: int, everybody: int) -> int | None:
    try:
        quota.check(mine=mine, everybody=everybody, again_s=90)
    except Refused as refused:
        assert refused.again_s == 90 and "2 minutes" in str(refused)
        return refused.status
    return None


def test_one_address_cannot_use_up_everything_and_a_newcomer_finds_a_place() -> None:
    quota = Quota("things", "thing", each=60, total=100, newcomer=2, total_status=507)
    mine = 0
    while refusal(quota, mine, mine) is None:
        mine += 1
    assert mine == 60
    others = 0
    while refusal(quota, others, mine + others) is None:
        others += 1
    assert mine + others == 90, "the reserve is left"
    for newcomer in range(5):
        there = mine + others + 2 * newcomer
        assert refusal(quota, 0, there) is None and refusal(quota, 1, there + 1) is None
        assert refusal(quota, 2, min(there + 2, 99)) == 507, "which is for newcomers alone"
    assert refusal(quota, 0, 100) == 507


def test_small_totals_keep_one_place() -> None:
    quota = Quota("things", "thing", each=3, total=4)
    assert refusal(quota, 1, 3) == 429 and refusal(quota, 0, 3) is None


def test_waits_are_told_in_round_figures() -> None:
    assert [in_about(seconds) for seconds in (0, 61, 3 * 3600, 49 * 3600)] == [
        "a minute",
        "2 minutes",
        "3 hours",
        "3 days",
    ]


# -- labs ----------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_labs_of_one_address_whatever_its_tokens(settings: Any) -> None:
    settings.LABS_ADDRESS_MAX = 3
    for number in range(3):
        services.lab_open(request={}, visitor=f"visitor-{number}-{'x' * 20}", address=HERE)
    with pytest.raises(Refused) as refused:
        services.lab_open(request={}, visitor="invented-" + "x" * 20, address=HERE)
    assert refused.value.status == 429 and refused.value.again_s == settings.LAB_VISIT_KEEP_S
    services.lab_open(request={}, address=THERE)
    services.lab_open(request={})


@pytest.mark.django_db
def test_copies_and_labs_from_the_api_count_and_the_answer_says_when(settings: Any) -> None:
    settings.LABS_ADDRESS_MAX = 2
    first = Client(REMOTE_ADDR="192.0.2.7").post("/api/labs/", "{}", content_type="application/json")
    assert first.status_code == 201
    copy = Client(REMOTE_ADDR="192.0.2.7").post(
        f"/api/labs/{first.json()['id']}/fork/", "{}", content_type="application/json"
    )
    assert copy.status_code == 201
    for headers, said in (
        ({}, "try again in about 24 hours"),
        ({"accept-language": "zh-hans"}, "24 小时后再试"),
    ):
        answer = Client(REMOTE_ADDR="192.0.2.7", headers=headers).post(
            "/api/labs/", "{}", content_type="application/json"
        )
        assert answer.status_code == 429 and int(answer["Retry-After"]) == settings.LAB_VISIT_KEEP_S
        assert said in answer.json()["fields"]["lab"][0]
    assert (
        Client(REMOTE_ADDR="198.51.100.1")
        .post("/api/labs/", "{}", content_type="application/json")
        .status_code
        == 201
    )
    spoofed = Client(REMOTE_ADDR="192.0.2.7", headers={"x-forwarded-for": "203.0.113.1"}).post(
        "/api/labs/", "{}", content_type="application/json"
    )
    assert spoofed.status_code == 429


@pytest.mark.django_db
def test_a_visitor_without_room_for_a_copy_is_told_so_with_the_demo(settings: Any, world: World) -> None:
    services.demo_lab_ensure()
    world.run(6)

    def visit(client: Client) -> Any:
        page = json.loads(
            re.search(r'<script id="page"[^>]*>(.*?)</script>', client.get("/").content.decode(), re.DOTALL)[
                1
            ]
        )
        assert not page["owner"]
        return client.post(
            page["visit"], "{}", content_type="application/json", headers={"x-csrftoken": page["csrf"]}
        )

    assert visit(Client()).json()["owner"] is True
    settings.LABS_ADDRESS_MAX = 1
    refused = visit(Client())
    assert (
        refused.status_code == 429
        and "your network address has reached its limit of labs" in refused.json()["fields"]["lab"][0]
    )


@pytest.mark.django_db
def test_an_addresss_own_visits_long_left_make_room_for_it(settings: Any) -> None:
    demo = services.demo_lab_ensure()
    settings.LABS_ADDRESS_MAX = 1
    left = services.lab_fork(lab_id=demo, visitor="v" * 20, address=HERE).lab
    Lab.objects.filter(pk=left.pk).update(
        created_at=timezone.now() - timedelta(days=2), status=Lab.Status.IDLE
    )
    services.lab_open(request={}, address=HERE)
    assert not Lab.objects.filter(pk=left.pk).exists()


# -- uploads, logs, studies ----------------------------------------------------------------------------------


def upload(address: str, size: int = 0) -> Any:
    file = SimpleUploadedFile("orders.csv", b"key,n\n" + b"a,1\n" * (size // 4 or 1))
    return Client(REMOTE_ADDR=address, headers={"authorization": f"Bearer {time.time_ns()}"}).post(
        "/api/studies/uploads/", {"file": file}
    )


@pytest.mark.django_db
def test_files_of_one_address_whatever_its_tokens(settings: Any, tmp_path: Any) -> None:
    settings.RUN_DIR = tmp_path
    settings.UPLOADS_ADDRESS_MAX = 2
    assert [upload("192.0.2.7").status_code for _file in range(3)] == [201, 201, 429]
    refused = upload("192.0.2.7")
    assert "7 days" in refused.json()["fields"]["file"][0] and int(refused["Retry-After"]) > 6 * 24 * 3600
    assert upload("198.51.100.1").status_code == 201
    assert Upload.objects.count() == 3


@pytest.mark.django_db
def test_the_last_part_of_the_disks_quota_is_for_newcomers(settings: Any, tmp_path: Any) -> None:
    settings.RUN_DIR = tmp_path
    settings.UPLOAD_BYTES_MAX = 100_000
    settings.UPLOADS_TOTAL_BYTES_MAX = 2_000_000
    assert upload("192.0.2.7", 90_000).status_code == 201
    Upload.objects.update(bytes=1_750_000)
    answer = upload("192.0.2.7", 90_000)
    assert (
        answer.status_code == 507
        and "no room for more files" in answer.json()["fields"]["file"][0]
        and answer["Retry-After"]
    )
    assert upload("198.51.100.1", 90_000).status_code == 201


@pytest.mark.django_db
def test_opened_logs_of_one_address_whatever_its_tokens(settings: Any, tmp_path: Any) -> None:
    settings.RUN_DIR = tmp_path
    settings.LOG_UPLOADS_ADDRESS_MAX = 2

    def post(address: str) -> Any:
        file = SimpleUploadedFile(f"{0:020d}.log", LOG)
        return Client(REMOTE_ADDR=address, headers={"authorization": f"Bearer {time.time_ns()}"}).post(
            "/api/logs/", {"file": file}
        )

    assert [post("192.0.2.7").status_code for _log in range(3)] == [201, 201, 429]
    refused = post("192.0.2.7")
    assert "24 hours" in refused.json()["fields"]["file"][0] and int(refused["Retry-After"]) > 23 * 3600
    assert post("198.51.100.1").status_code == 201


REQUEST = {"source": {"kind": "uniform", "keys": 5, "records": 100}}


@pytest.mark.django_db
def test_studies_that_wait_and_live_ones(settings: Any) -> None:
    settings.STUDIES_WAITING_ADDRESS_MAX = 2
    for owner in "xy":
        studies.study_start(request=REQUEST, owner_hash=owner * 64, address=HERE)
    with pytest.raises(Refused) as refused:
        studies.study_start(request=REQUEST, owner_hash="z" * 64, address=HERE)
    assert refused.value.status == 429 and refused.value.again_s == studies.WAIT_S
    studies.study_start(request=REQUEST, owner_hash="z" * 64, address=THERE)
    live = {"live": True, "source": {"kind": "lab", "lab": services.lab_open(request={}).lab.pk}}
    Study.objects.all().delete()
    for owner in "pqr":
        started = studies.study_start(request=live, owner_hash=owner * 64, address=HERE)
        Study.objects.filter(pk=started.pk).update(state=Study.State.RUNNING)
    with pytest.raises(Refused) as refused:
        studies.study_start(request=live, owner_hash="s" * 64, address=HERE)
    assert (
        refused.value.status == 429
        and refused.value.again_s == settings.STUDY_LIVE_IDLE_S
        and "2 minutes" in str(refused.value)
    )
    studies.study_start(request=live, owner_hash="s" * 64, address=THERE)


@pytest.mark.django_db
def test_an_addresss_oldest_finished_study_makes_room_for_its_next(settings: Any) -> None:
    settings.STUDIES_ADDRESS_MAX = 2
    old = studies.study_start(request=REQUEST, owner_hash="x" * 64, address=HERE)
    Study.objects.filter(pk=old.pk).update(state=Study.State.DONE, finished_at=timezone.now())
    studies.study_start(request=REQUEST, owner_hash="y" * 64, address=HERE)
    studies.study_start(request=REQUEST, owner_hash="z" * 64, address=HERE)
    assert not Study.objects.filter(pk=old.pk).exists()


# -- sockets -------------------------------------------------------------------------------------------------


def test_sockets_are_counted_by_address_and_in_all(settings: Any) -> None:
    settings.SOCKETS_ADDRESS_MAX, settings.SOCKETS_MAX, settings.SOCKETS_NEWCOMER = 5, 10, 1
    doors = Doors()
    assert [doors.enter(HERE) for _socket in range(6)] == [True] * 5 + [False]
    assert [doors.enter(THERE) for _socket in range(5)] == [True] * 4 + [False], (
        "the last one is for a newcomer"
    )
    assert doors.enter("c") and not doors.enter("d")
    doors.leave(HERE)
    assert doors.enter("d")
    for address in [*[HERE] * 4, *[THERE] * 4, "c", "d"]:
        doors.leave(address)
    assert not doors._open, "who has left leaves no trace"


def test_quotas_leave_room_for_a_classroom(settings: Any) -> None:
    """Forty learners behind one address, each with a few of everything."""
    learners = 40
    assert 5 * learners <= settings.LABS_ADDRESS_MAX and 5 * learners <= settings.SOCKETS_ADDRESS_MAX
    assert (
        learners * settings.UPLOAD_BYTES_MAX / 2 <= settings.UPLOADS_ADDRESS_BYTES_MAX
        and 5 * learners <= settings.UPLOADS_ADDRESS_MAX
    )
    assert (
        2 * learners <= settings.STUDIES_WAITING_ADDRESS_MAX
        and 3 * learners <= settings.LOG_UPLOADS_ADDRESS_MAX
    )
    for each, total in [
        ("LABS_ADDRESS_MAX", "LABS_MAX"),
        ("SOCKETS_ADDRESS_MAX", "SOCKETS_MAX"),
        ("STUDIES_LIVE_ADDRESS_MAX", "STUDIES_LIVE_MAX"),
        ("UPLOADS_ADDRESS_BYTES_MAX", "UPLOADS_TOTAL_BYTES_MAX"),
        ("UPLOADS_ADDRESS_MAX", "UPLOADS_MAX"),
        ("STUDIES_WAITING_ADDRESS_MAX", "STUDIES_WAITING_MAX"),
        ("LOG_UPLOADS_ADDRESS_MAX", "LOG_UPLOADS_MAX"),
        ("STUDIES_ADDRESS_MAX", "STUDIES_MAX"),
    ]:
        assert getattr(settings, each) < getattr(settings, total), each


def test_refusal_carries_its_time_as_a_header() -> None:
    assert refusal_response(Refused(429, {"lab": "no"}, 1.2))["Retry-After"] == "2"
    assert "Retry-After" not in refusal_response(Refused(400, {"lab": "no"}))
    assert json.loads(refusal_response(Refused(429, {"lab": "no"}, 1.2)).content) == {
        "fields": {"lab": ["no"]}
    }
