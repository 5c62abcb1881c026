"""The RabbitMQ page says nothing without words, and has no words that it never says."""

import re
from pathlib import Path

from django.utils import translation

from broker_core.lab.commands import COMMANDS
from broker_core.lab.commands.rabbitmq import RESOURCES
from broker_core.lab.rabbitmq.views.growth import CAUSES
from broker_core.rabbitmq.arguments import QUEUE_ARGUMENTS
from broker_core.rabbitmq.client.operator import SETTLES
from broker_core.rabbitmq.client.roles import ACKS
from broker_core.rabbitmq.definitions import LEFT_OUT
from dashboard.sentences import SENTENCES
from dashboard.sentences.topology import TOPOLOGY
from dashboard.views.rabbitmq import TRACE_COLUMNS

ROOT = Path(__file__).parents[2]
VERBS = (
    "join",
    "pause",
    "resume",
    "full_speed",
    "slow",
    "crash",
    "leave",
    "rejoin",
    "ack",
    "requeue",
    "reject",
)
ORDERS = ("stop", "crash", "start", "memory_on", "memory_off", "disk_on", "disk_off")
FORMS = (
    "declare_queue", "declare_exchange", "bind", "unbind", "get", "purge", "delete_queue", "delete_exchange",
    "permissions", "topic_permissions", "user", "change_user", "delete_user", "vhost", "delete_vhost", "import",
)  # fmt: skip
TYPES = ("string", "integer", "double", "boolean", "void", "json")
HASHED = ("key", "header", "property", "missing")
FAMILIES = {
    "cure": CAUSES,
    "resource": RESOURCES,
    "column": ("publisher", "exchange", "queue", "consumer"),
    "dropped": ("rejected", "expired", "maxlen", "delivery_limit"),
    "twin": ("what", "from", "key", "to", "count", "node", "name", "kind", "state"),
    "try": ("gets", "again", "not", "missing", "idle", "rule.each", "rule.one"),
    "try.hash": HASHED,
    "path.why.hash": HASHED,
    "path": (
        "returned", "refused", "delivered", "delivered_again", "delivered_auto", "delivered_auto_again", "ack",
        "requeue", "discard", "left_out",
    ),
    "path.reason": ("rejected", "expired", "maxlen", "delivery_limit", "purged", "deleted", "lost"),
    "path.rule": (
        "missed_heartbeats", "closed_by_peer", "closed_by_operator", "closed_by_client", "consumer_timeout",
        "exception", "fault",
    ),
    "rows.type": TYPES,
    "trace": ("sent", "received"),
    "trace.head": TRACE_COLUMNS,
    "rows": ("no_name", "twice", "name", "value", *(f"not_{kind}" for kind in TYPES if kind not in ("string", "void"))),
    "answer": ("published", "returned", "unrouted", "nacked"),
    "head": ("drops", "dead_letters", "refuses", "refuses_silently"),
    "rate": ("drops", "dead_letters", "refuses", "refuses_silently"),
    "sub": ("published", "copies", "dropped", "returned", "refuses", "refuses_silently", "acked", "auto", "given_back", "rejected"),
    "settled": ("auto", "given_back", "rejected"),
    "left_out": ("queues", "exchanges", *LEFT_OUT),
    "kind": ("exclusive", "auto_delete"),
    "form": (*FORMS, "publish"),
    "settles": SETTLES,
    "destination": ("queue", "exchange"),
    "server": ORDERS,
    "server_about": ORDERS,
    "ack": ACKS,
    "verb": VERBS,
    "verb_about": VERBS,
    "line": ("ready", "unacked", "in", "acked"),
    "head_of": (
        "queue", "kind", "ready", "unacked", "in", "acked", "consumers", "why", "consumer", "state", "prefetch",
    ),
}  # fmt: skip


def codes_said() -> set[str]:
    files = [*(ROOT / "static/js/rabbitmq").glob("*.js"), ROOT / "templates/dashboard/rabbitmq.html"]
    text = "\n".join(file.read_text() for file in files)
    forms = (ROOT / "static/js/rabbitmq/forms.js").read_text()
    fields = {
        "name",
        "arguments",
        *re.findall(r'name: "(\w+)"', forms),
        *re.findall(r'FLAG\("(\w+)"\)', forms),
        *re.findall(r'label: "(\w+)"', forms),
    }
    return (
        set(re.findall(r"""["'`](topology\.[a-z_.]+[a-z])["'`]""", text))
        | {f"topology.field.{name}" for name in fields}
        | {f"topology.{family}.{name}" for family, names in FAMILIES.items() for name in names}
    )


def test_all_that_it_says_has_words_and_all_its_words_are_said() -> None:
    said = codes_said()
    assert sorted(said - TOPOLOGY.keys()) == []
    assert sorted(TOPOLOGY.keys() - said) == []


def test_every_form_is_an_order_of_the_registry_and_every_cause_has_words() -> None:
    assert {f"rabbitmq_{form}" for form in (*FORMS, "publish")} <= COMMANDS.keys()
    assert {f"queue.growing.{cause}" for cause in CAUSES} <= SENTENCES.keys()


def test_every_field_of_a_form_is_an_argument_of_its_order() -> None:
    forms = (ROOT / "static/js/rabbitmq/forms.js").read_text()
    known = {argument for form in FORMS for argument in COMMANDS[f"rabbitmq_{form}"].ARGS}
    fields = {*re.findall(r'name: "(\w+)"', forms), *re.findall(r'FLAG\("(\w+)"\)', forms)}
    assert sorted(fields - known) == []


def test_the_arguments_that_a_form_knows_are_those_that_the_server_checks() -> None:
    forms = (ROOT / "static/js/rabbitmq/forms.js").read_text()
    known = forms[forms.index("queue: {") : forms.index("exchange: {")]
    assert sorted(re.findall(r'"(x-[\w-]+)":', known)) == sorted(QUEUE_ARGUMENTS)


def test_every_place_is_one_that_the_script_fills() -> None:
    """A choice by number may hold places in its second part only (`say.js: PLACE`)."""
    for language in ("en", "zh-hans"):
        with translation.override(language):
            texts = {code: str(text) for code, text in TOPOLOGY.items()}
        for code, text in texts.items():
            left = re.sub(r"\{\w+(?:\?[^|}{]*\|(?:[^{}]|\{\w+\})*)?\}", "", text)
            assert "{" not in left and "}" not in left, (language, code, text)
