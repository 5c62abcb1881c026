"""The lines for the original come with the family: of those that are there to the byte, and a new family is
one file."""

import pytest

from broker_core.pipeline import strategies
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.originals import config_lines
from broker_core.pipeline.strategies import strategy_parse
from dashboard.sentences import catalogue
from dashboard.studies.presentation import strategy_words

STEPS = history_steps(history_check({"kind": "given", "start": 3, "changes": [{"kind": "join"}]}))
SHARED, RING = "subscriptionKeySharedEnable=true", "subscriptionKeySharedUseConsistentHashing"
POINTS = [SHARED, f"{RING}=true", "subscriptionKeySharedConsistentHashingReplicaPoints=100"]
TOPIC = "bin/kafka-topics.sh --bootstrap-server localhost:9092 --create --topic TOPIC --partitions 12"
NAMES = [
    "// one fixed name for each process:",
    *(f'.consumerName("c{number}")' for number in (1, 2, 3)),
]
INSTANCES = [
    "# one fixed id for each process:",
    *(f"group.instance.id=c{number}" for number in (1, 2, 3)),
]
STICKY = ".keySharedPolicy(KeySharedPolicy.stickyHashRange().ranges(Range.of"
LINES = {
    "pulsar.auto_split": {("broker.conf", "Pulsar 3.2, 4.x"): [SHARED, f"{RING}=false"]},
    **{
        f"pulsar.{algorithm}": {("broker.conf", versions): POINTS, ("consumer (Java)", versions): NAMES}
        for algorithm, versions in (
            ("consistent_hash", "Pulsar 3.2.1 - 3.2.x"),
            ("consistent_hash_3_2_0", "Pulsar 3.2.0"),
            ("consistent_hash_current", "Pulsar 4.x"),
        )
    },
    **{
        f"pulsar.{algorithm}_unnamed": {
            ("broker.conf", versions): POINTS,
            ("consumer (Java)", versions): ["// no consumerName: each process draws one when it starts"],
        }
        for algorithm, versions in (
            ("consistent_hash", "Pulsar 3.2.1 - 3.2.x"),
            ("consistent_hash_current", "Pulsar 4.x"),
        )
    },
    "pulsar.sticky": {
        ("consumer (Java)", "Pulsar 3.2"): [
            "// subscriptionType(SubscriptionType.Key_Shared), and for each consumer:",
            f"{STICKY}(0, 16383)))  // c1",
            f"{STICKY}(16384, 32767)))  // c3",
            f"{STICKY}(32768, 65535)))  // c2",
        ]
    },
    **{
        f"kafka.{algorithm}": {
            ("consumer.properties", "Kafka 3.9"): [
                f"partition.assignment.strategy=org.apache.kafka.clients.consumer.{name}Assignor",
                "session.timeout.ms=45000",
            ],
            ("shell", "Kafka 3.9"): [TOPIC],
        }
        for algorithm, name in (
            ("range", "Range"),
            ("roundrobin", "RoundRobin"),
            ("sticky", "Sticky"),
            ("cooperative-sticky", "CooperativeSticky"),
        )
    },
    **{
        f"kafka.server_{name}": {
            ("consumer.properties", "Kafka 4.x"): [
                "group.protocol=consumer",
                f"group.remote.assignor={name}",
            ],
            ("shell", "Kafka 4.x"): [TOPIC],
        }
        for name in ("uniform", "range")
    },
    **{
        f"kafka.static_{algorithm}": {
            ("consumer.properties", "Kafka 3.9"): [
                f"partition.assignment.strategy=org.apache.kafka.clients.consumer.{name}Assignor",
                "session.timeout.ms=45000",
                *INSTANCES,
            ],
            ("shell", "Kafka 3.9"): [TOPIC],
        }
        for algorithm, name in (("range", "Range"), ("cooperative-sticky", "CooperativeSticky"))
    },
    "kafka.keyless": {
        ("producer (Java)", "Kafka 3.9"): ["producer.send(new ProducerRecord<>(TOPIC, value));  // no key"],
        ("producer.properties", "Kafka 3.9"): ["batch.size=16384", "linger.ms=0"],
        ("consumer.properties", "Kafka 3.9"): [
            "partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor",
            "session.timeout.ms=45000",
        ],
        ("shell", "Kafka 3.9"): [TOPIC],
    },
    "kafka.static_server_uniform": {
        ("consumer.properties", "Kafka 4.x"): [
            "group.protocol=consumer",
            "group.remote.assignor=uniform",
            *INSTANCES,
        ],
        ("server.properties", "Kafka 4.x"): ["group.consumer.session.timeout.ms=45000"],
        ("shell", "Kafka 4.x"): [TOPIC],
    },
    "pulsar.shared": {
        ("consumer (Java)", "Pulsar 3.2, 4.x"): [
            ".subscriptionType(SubscriptionType.Shared)",
            ".receiverQueueSize(1000)",
        ]
    },
    "tubemq.modulo": {
        ("topic settings of the master", "TubeMQ 1.x"): ["numPartitions=4  # on each of 3 brokers"],
        ("consumer (Java)", "TubeMQ 1.x"): [
            (
                "consumer.start(topicAndFilters, 3, nodeId, result);  // sourceCount 3, nodeId 0..2, one for "
                "each process"
            ),
        ],
    },
    "rabbitmq.consistent_hash": {
        ("server", "RabbitMQ 3.10"): ["rabbitmq-plugins enable rabbitmq_consistent_hash_exchange"],
        ("consumer (Java)", "RabbitMQ 3.10"): [
            'channel.exchangeDeclare("keys", "x-consistent-hash", true);',
            "String queue = channel.queueDeclare().getQueue();  // its own: it goes with the consumer, and what waits in it",
            'channel.queueBind(queue, "keys", "1");  // a weight',
            "channel.basicQos(5);  // 0: no limit",
            "channel.basicConsume(queue, false, consumer);",
        ],
        ("producer (Java)", "RabbitMQ 3.10"): ['channel.basicPublish("keys", key, properties, body);'],
    },
    "rabbitmq.queue": {
        ("consumer (Java)", "RabbitMQ 3.x, 4.x"): [
            "channel.basicQos(5);  // 0: no limit",
            'channel.basicConsume("QUEUE", false, consumer);',
        ],
    },
}
TOY = """
from broker_core.pipeline.strategies.base import config_file
from broker_core.pipeline.strategies.kafka import FAMILIES as KAFKA
from broker_core.pipeline.strategies.pulsar import pulsar_family
from dataclasses import replace

FAMILIES = (
    replace(KAFKA[0], algorithm="toy", config=None),
    replace(KAFKA[0], algorithm="tame", config=lambda strategy, start: [config_file("toy.conf", "Toy 1", [f"members={len(start.live)}"])]),
    replace(pulsar_family("auto_split"), algorithm="toy"),
)
"""


def described(text):
    strategy = strategy_parse(text)
    return config_lines(strategy, strategy.routes(STEPS)[0])


@pytest.mark.parametrize("family", strategies.FAMILIES)
def test_each_family_has_the_lines_of_its_original(family):
    assert {(part["file"], part["for"]): part["lines"] for part in described(family)} == LINES.get(family, {})
    assert (family in LINES) is not strategies.FAMILIES[family].document


def test_a_new_family_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(tmp_path)])
    monkeypatch.setattr(strategies, "FAMILIES", strategies._collect())
    assert described("kafka.toy:partitions=7") == described("pulsar.toy") == []
    assert described("kafka.tame") == [{"file": "toy.conf", "for": "Toy 1", "lines": ["members=3"]}]
    toy = strategy_parse("kafka.toy")
    for words in catalogue("analyze").values():
        assert (
            strategy_words({"model": toy.model, "algorithm": toy.algorithm, "params": toy.params}, words)[
                "best"
            ]
            == "toy"
        )
    assert [table.units for table in toy.routes(STEPS)] == [
        table.units for table in strategy_parse("kafka.range").routes(STEPS)
    ]


@pytest.mark.parametrize(
    ("family", "comment"),
    [("pulsar.consistent_hash", "//"), ("pulsar.sticky", "//"), ("kafka.static_range", "#")],
)
def test_of_many_consumers_the_lines_say_how_many_they_leave_out(family, comment):
    strategy = strategy_parse(family)
    many = history_steps(history_check({"kind": "given", "start": 11}))
    lines = [line for part in config_lines(strategy, strategy.routes(many)[0]) for line in part["lines"]]
    assert lines.count(f"{comment} ... and 3 more") == 1


@pytest.mark.parametrize("family", strategies.FAMILIES)
def test_the_lines_hold_what_the_figures_rest_on(family):
    """Numbers other than the defaults are in them; so are the names where a strategy places by names, and who assigns
    where members share partitions."""
    if strategies.FAMILIES[family].document:
        return
    others = {"points": 77, "partitions": 24, "brokers": 4, "prefetch": 9, "session_s": 50}
    known = {param.name for param in strategies.FAMILIES[family].params}
    text = ",".join(f"{name}={value}" for name, value in others.items() if name in known)
    lines = [line for part in described(f"{family}:{text}") for line in part["lines"]]
    wanted = {
        "points": "ReplicaPoints=77",
        "partitions": "numPartitions=6" if "brokers" in known else "--partitions 24",
        "brokers": "on each of 4 brokers",
        "prefetch": "basicQos(9)",
        "session_s": "session.timeout.ms=50000",
    }
    rests_on = [wanted[name] for name in known]
    if strategies.FAMILIES[family].drawn == "names" and not family.endswith("_unnamed"):
        rests_on += [f'consumerName("c{number}")' for number in (1, 2, 3)]
    if ".static_" in family:
        rests_on += [f"group.instance.id=c{number}" for number in (1, 2, 3)]
    if family.startswith("kafka."):
        is_server = "server_" in family
        rests_on += ["group.protocol=consumer", "group.remote.assignor="] if is_server else ["Assignor"]
        rests_on += ["batch.size="] if family == "kafka.keyless" else []
    assert rests_on or lines
    for words in rests_on:
        assert any(words in line for line in lines), words
