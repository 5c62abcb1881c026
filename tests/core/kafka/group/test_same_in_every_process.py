"""The same requests give the same records, to the byte, whatever order a process gives its sets of
strings."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]

PROGRAM = """
import hashlib
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.group.topics import Topic, TopicsImage
from tests.core.kafka.group.desk import Desk

desk, names = Desk(), [f"topic-{number}" for number in range(40)]
desk.topics = TopicsImage.of([Topic(name, f"{number:022d}", 3) for number, name in enumerate(names)])
desk.coordinator.topics_changed(desk.topics, names)
for number in range(8):
    join = m.ConsumerGroupHeartbeatRequest("g", "", 0, rebalance_timeout_ms=9, subscribed_topic_names=names[number % 3:], topic_partitions=[])
    member_id = desk.send(join).member_id
    for known in list(desk.group().members.values()):
        held = [m.TopicPartitions(topic_id, sorted(numbers)) for topic_id, numbers in known.assigned.items()]
        desk.send(m.ConsumerGroupHeartbeatRequest("g", known.member_id, known.epoch, topic_partitions=held))
written = b"".join(key_bytes(record.key) + (value_bytes(record.value) if record.value else b"") for record in desk.log)
print(len(desk.log), hashlib.sha256(written).hexdigest())
"""


def test_records_do_not_depend_on_the_hash_seed():
    outputs = set()
    for seed in ("1", "2", "77"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1 and int(outputs.pop().split()[0]) > 50
