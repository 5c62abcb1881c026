"""What travels between the nodes of a cluster can be kept in a checkpoint, batches too."""

import json

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import TransactionMessage
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightLog, light_batch
from broker_core.plain import from_plain, to_plain

ANY = r.ClientMessage | TransactionMessage | c.ControlMessage


def there_and_back(message):
    return from_plain(json.loads(json.dumps(to_plain(message))), ANY)


def test_produce_comes_back_with_its_batch():
    batch = light_batch([7, 8], timestamp=5, producer_id=3, producer_epoch=0, base_sequence=2)
    again = there_and_back(r.ProduceRequest(-1, 30_000, [r.ProducePartition("t", 0, batch)]))
    records = again.partitions[0].records
    assert records == batch and type(records) is type(batch) and records.header.last_sequence == 3


def test_fetched_marker_comes_back_as_what_it_is():
    log = LightLog.begin(now_ms=0)
    log.append(
        light_batch(
            [1], timestamp=0, producer_id=3, producer_epoch=0, base_sequence=0, is_transactional=True
        ),
        now_ms=0,
    )
    log.append_marker(ControlType.ABORT, producer_id=3, producer_epoch=0, coordinator_epoch=9, now_ms=0)
    again = there_and_back(r.FetchResponse([r.FetchedPartition("t", 0, 0, 2, 2, 0, log.read(0, 1000).data)]))
    assert again.partitions[0].records[1].control_type() == (ControlType.ABORT, 9)
    assert again.partitions[0].records[1].control_type()[0] is ControlType.ABORT


def test_partition_of_the_metadata_comes_back():
    delta = c.MetadataDelta(
        4, [], [], [c.MetadataPartitionState("t", 0, PartitionRegistration((1, 2), (1,), 1))]
    )
    assert there_and_back(delta) == delta
