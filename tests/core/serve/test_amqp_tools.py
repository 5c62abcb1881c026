"""Debian's amqp-tools (librabbitmq, in C) against the command: what they print and how they end is what they did, asked the same,
of a real 3.10.8."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

import pytest

from tests.core.serve.programs import PATIENCE_S, serving

TOOLS = ("amqp-declare-queue", "amqp-publish", "amqp-get", "amqp-consume", "amqp-delete-queue")
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS),
    reason="needs Debian's amqp-tools: apt-get install amqp-tools",
)


@pytest.fixture
def server():
    """Its URL without a path: to these tools a slash at the end is the virtual host ''."""
    with serving(sys.executable) as url:
        yield url.removesuffix("/")


def ask(url: str, tool: str, *arguments: str, stdin: str = "") -> tuple[int, str]:
    """Exit code, and what it printed."""
    ran = subprocess.run(
        [tool, "-u", url, *arguments],
        input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    return ran.returncode, ran.stdout


def test_messages_go_into_a_queue_and_out_of_it(server):
    assert ask(server, "amqp-declare-queue", "-q", "orders") == (0, "orders\n")
    assert ask(server, "amqp-publish", "-r", "orders", "-b", "one") == (0, "")
    assert ask(
        server, "amqp-publish", "-r", "orders", "-p", "-C", "text/plain", "-l", stdin="two\nthree\n"
    ) == (0, "")
    assert ask(server, "amqp-get", "-q", "orders") == (0, "one")
    assert ask(server, "amqp-consume", "-q", "orders", "-c", "2", "-p", "1", "cat") == (0, "two\nthree\n")
    assert ask(server, "amqp-get", "-q", "orders") == (2, ""), "it is empty"
    ask(server, "amqp-publish", "-r", "orders", "-b", "four")
    assert ask(server, "amqp-delete-queue", "-q", "orders") == (0, "1\n"), "with what it holds"


def test_a_consumer_with_a_binding_of_its_own_gets_what_it_wants(server):
    consumer = subprocess.Popen(
        ["amqp-consume", "-u", server, "-e", "amq.topic", "-r", "order.#", "-c", "1", "cat"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    named = consumer.stderr.readline()
    assert named.startswith("Server provided queue name: amq.gen-")
    queue = named.split()[-1]
    deadline = time.monotonic() + PATIENCE_S
    while consumer.poll() is None and time.monotonic() < deadline:  # it binds after it has said its name
        ask(server, "amqp-publish", "-e", "amq.topic", "-r", "parcel.new", "-b", "not this")
        ask(server, "amqp-publish", "-e", "amq.topic", "-r", "order.new.eu", "-b", "this")
    assert consumer.communicate(timeout=PATIENCE_S)[0] == "this" and consumer.returncode == 0
    code, said = ask(server, "amqp-get", "-q", queue)
    assert code == 1 and "NOT_FOUND" in said, "its queue has gone with it"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("amqp-get", "-q", "none"), "basic.get: server channel error 404, message: NOT_FOUND - no queue 'none' in vhost '/'\n"),
        (
            ("amqp-publish", "-e", "none", "-r", "x", "-b", "y"),
            "closing channel: server channel error 404, message: NOT_FOUND - no exchange 'none' in vhost '/'\n",
        ),
        (
            ("amqp-consume", "-q", "none", "cat"),
            "basic.consume: server channel error 404, message: NOT_FOUND - no queue 'none' in vhost '/'\n",
        ),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)  # fmt: skip
def test_what_is_not_there_is_refused_in_the_originals_words(server, asked, said):
    assert ask(server, *asked) == (1, said)


def test_who_is_unknown_is_refused_in_the_originals_words(server):
    refused = "logging in to AMQP server: server connection error"
    assert ask(server.replace("guest@", "wrong@"), "amqp-declare-queue", "-q", "q") == (
        1,
        (
            f"{refused} 403, message: ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN."
            " For details see the broker logfile.\n"
        ),
    )
    assert ask(server + "/none", "amqp-declare-queue", "-q", "q") == (
        1,
        f"{refused} 530, message: NOT_ALLOWED - vhost none not found\n",
    )
