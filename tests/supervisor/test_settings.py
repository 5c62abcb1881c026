"""What the environment decides: addresses of Redis, the secret key, names of the site, and what each answer
says about its safety."""

import logging
import os
import stat

import pytest
from django.http import HttpResponse
from hypothesis import given, settings
from hypothesis import strategies as st

from mqsite import addresses, secret
from mqsite.logs import NotOfPy4j
from mqsite.security import ContentSecurityPolicyMiddleware
from mqsite.settings import base

# -- addresses of Redis --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "redis", "celery"),
    [
        (
            "unix:///run/redis.sock",
            "unix:///run/redis.sock?db=0",
            "redis+socket:///run/redis.sock?virtual_host=0",
        ),
        (
            "unix:///run/redis.sock?db=3",
            "unix:///run/redis.sock?db=3",
            "redis+socket:///run/redis.sock?virtual_host=3",
        ),
        (
            "redis+socket:///run/redis.sock?virtual_host=4",
            "unix:///run/redis.sock?db=4",
            "redis+socket:///run/redis.sock?virtual_host=4",
        ),
        (
            "redis+socket:///a b/redis.sock",
            "unix:///a b/redis.sock?db=0",
            "redis+socket:///a b/redis.sock?virtual_host=0",
        ),
        ("redis://cache:6379/1", "redis://cache:6379/1", "redis://cache:6379/1"),
        (
            "rediss://user:secret@cache/2?ssl_cert_reqs=none",
            *["rediss://user:secret@cache/2?ssl_cert_reqs=none"] * 2,
        ),
    ],
)
def test_an_address_is_spelled_as_each_library_wants_it(given, redis, celery):
    assert addresses.redis_url(given) == redis
    assert addresses.celery_url(given) == celery


@given(name=st.text("az09._-/ ", min_size=1, max_size=40), database=st.integers(0, 15))
@settings(max_examples=50)
def test_both_spellings_of_a_socket_name_the_same_place(name, database):
    url = f"unix:///{name}?db={database}"
    celery = addresses.celery_url(url)
    assert addresses.redis_url(celery) == addresses.redis_url(url) == url
    assert addresses.celery_url(celery) == celery


# -- the secret key ------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_given(monkeypatch):
    monkeypatch.delenv("HIGHWATER_SECRET_KEY", raising=False)


@pytest.mark.usefixtures("nothing_given")
def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    folder = tmp_path / "new" / "var"
    key = secret.secret_key(folder)
    assert len(key) >= 50 and secret.secret_key(folder) == key
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["secret_key"], "the draft is gone"
    assert secret.secret_key(tmp_path / "other") != key


@pytest.mark.usefixtures("nothing_given")
def test_of_two_processes_that_start_at_once_both_take_the_first_ones_key(tmp_path, monkeypatch):
    link = os.link

    def another_was_first(draft, path):
        path.write_text("the first one's\n")
        link(draft, path)

    monkeypatch.setattr(secret.os, "link", another_was_first)
    assert secret.secret_key(tmp_path) == "the first one's"
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_key_that_is_given_is_taken_and_no_file_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("HIGHWATER_SECRET_KEY", "given")
    assert secret.secret_key(tmp_path) == "given" and list(tmp_path.iterdir()) == []


# -- names of the site ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "listens_on", "hosts"),
    [
        ("", "127.0.0.1", ["127.0.0.1", "[::1]", "localhost"]),
        ("", "192.0.2.7", ["127.0.0.1", "192.0.2.7", "[::1]", "localhost"]),
        ("", "0.0.0.0", ["*"]),
        ("", "::", ["*"]),
        ("lab.example, www.lab.example ,", "0.0.0.0", ["lab.example", "www.lab.example"]),
    ],
)
def test_who_listens_everywhere_answers_to_any_name_unless_names_are_given(
    monkeypatch, given, listens_on, hosts
):
    monkeypatch.setenv("HIGHWATER_ALLOWED_HOSTS", given)
    monkeypatch.setattr(base, "LISTEN_HOST", listens_on)
    assert base.allowed_hosts() == hosts


def test_only_the_settings_for_tls_send_cookies_over_it_alone():
    from mqsite.settings import production

    secure = (
        "SESSION_COOKIE_SECURE",
        "CSRF_COOKIE_SECURE",
        "LANGUAGE_COOKIE_SECURE",
        "VISITOR_COOKIE_SECURE",
        "SECURE_SSL_REDIRECT",
    )
    assert [name for name in secure if not getattr(production, name)] == []
    assert [name for name in secure if getattr(base, name, False)] == [], (
        "plain HTTP on one's own machine works"
    )


def test_a_heartbeat_lives_longer_than_the_lease_that_it_stands_for():
    from dashboard.labs import transport

    assert transport.BEAT_KEPT_S > base.LEASE_S, "else a shard is enqueued again while its task lives"
    assert base.SHARD_POLL_S < base.LEASE_S / 2
    assert transport.PATIENCE_S > base.FRAME_INTERVAL_MAX_S, (
        "a call waits longer than the longest wait for a wake"
    )
    assert base.FRAME_INTERVAL_S < base.FRAME_INTERVAL_MAX_S <= 0.5, "two frames a second under any load"


def test_a_browser_that_draws_every_frame_may_acknowledge_each(settings):
    assert settings.SOCKET_MESSAGES_PER_S > 1 / settings.FRAME_INTERVAL_S
    longest = '{"type":"ack","seq":9223372036854775807}'
    assert len(longest) < settings.SOCKET_MESSAGE_BYTES_MAX


# -- headers -------------------------------------------------------------------------------------------------


def answered(response):
    return ContentSecurityPolicyMiddleware(lambda _request: response).process_response(None, response).headers


def test_nothing_inline_runs_and_nothing_comes_from_elsewhere():
    policy = dict(
        part.split(" ", 1) for part in answered(HttpResponse())["Content-Security-Policy"].split("; ")
    )
    assert (
        policy["default-src"] == "'self'"
        and policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    )
    assert not [value for value in policy.values() if "unsafe" in value or "http" in value or "*" in value]
    assert "data:" not in policy["default-src"], "a picture may be data, a script may not"


def test_a_view_that_sets_its_own_policy_keeps_it():
    response = HttpResponse(headers={"Content-Security-Policy": "default-src 'none'"})
    headers = answered(response)
    assert (
        headers["Content-Security-Policy"] == "default-src 'none'"
        and "camera=()" in headers["Permissions-Policy"]
    )


# -- logs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "is_kept"),
    [
        ("/site-packages/py4j/java_gateway.py", False),
        ("/site-packages/pyspark/py4j_util.py", True),
        ("/py4j/dashboard/shard.py", True),
    ],
)
def test_the_root_log_leaves_out_what_py4j_tells_of_a_lost_java(path, is_kept):
    record = logging.LogRecord("root", logging.INFO, path, 1, "Error while sending or receiving", (), None)
    assert NotOfPy4j().filter(record) == is_kept


# -- ASGI ----------------------------------------------------------------------------------------------------


async def test_a_body_that_came_as_a_file_is_read_from_it_and_the_clients_end_is_still_heard():
    import io

    from mqsite.asgi import BODY_FILE, Handler, ReceivedBody

    messages = [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    file = io.BytesIO(b"long")
    body = ReceivedBody(receive, file)
    assert await Handler().read_body(body) is file
    assert (await body())["type"] == "http.disconnect", "the body's own message is not the client's end"
    messages.append({"type": "http.disconnect"})
    assert (await body())["type"] == "http.disconnect" and messages == []
    assert BODY_FILE == "highwater.body"


async def test_a_short_body_is_read_as_it_comes():
    from mqsite.asgi import Handler

    pieces = [
        {"type": "http.request", "body": b"ab", "more_body": True},
        {"type": "http.request", "body": b"c"},
    ]

    async def receive():
        return pieces.pop(0)

    with await Handler().read_body(receive) as body:
        assert body.read() == b"abc"


def test_the_server_and_the_application_name_the_file_alike():
    from mqsite import asgi, web

    assert web.BODY_FILE == asgi.BODY_FILE
