"""Keys of every kind, the same for a seed: text of several alphabets, bytes that are not text, empty ones,
none at all; some come again."""

import random
from collections.abc import Sequence

from pyspark.sql import SparkSession

from broker_core.pipeline.sources.workload import Workload

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz0123456789-_",
    "äöüßéèçñåø",
    "键哈希主题分区消费者队列",
    "😀🚀🧪𝄞",
    "\x00\x7f\u0080\u07ff\u0800\uffff",
)
ROWS_PER_SLICE = 65_536


def mixed_keys(count: int, seed: int) -> list[bytes | None]:
    """Six in ten are new text, the others binary, repeated, empty or missing."""
    chance = random.Random(seed)
    keys: list[bytes | None] = []
    for _ in range(count):
        kind = chance.random()
        if kind < 0.60:
            keys.append("".join(chance.choices(chance.choice(ALPHABETS), k=chance.randint(1, 24))).encode())
        elif kind < 0.85:
            keys.append(chance.randbytes(chance.randint(1, 40)))
        elif kind < 0.95 and keys:
            keys.append(chance.choice(keys[-1_000:]))
        else:
            keys.append(b"" if kind < 0.97 else None)
    return keys


def workload(
    spark: SparkSession,
    keys: Sequence[bytes | None],
    sizes: Sequence[int],
    *,
    ordinals: bool = True,
    slices: int = 3,
) -> Workload:
    """The keys as a workload of Spark's rows, over several tasks."""
    import pyarrow as pa

    columns = {"key": pa.array(keys, pa.binary()), "bytes": pa.array(sizes, pa.int64())}
    if ordinals:
        columns["ordinal"] = pa.array(range(len(keys)), pa.int64())
    return Workload(spark.createDataFrame(pa.table(columns)).repartition(slices))
