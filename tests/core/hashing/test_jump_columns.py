"""All keys at once have the buckets that each has alone."""

from random import Random

import pytest

from broker_core.errors import InvariantError
from broker_core.hashing.jump_columns import BUCKETS_MAX, jump_slots
from broker_core.hashing.jump_hash import SEED_BITS, SEED_MASK, jump_hash


@pytest.mark.parametrize("buckets", [1, 2, 3, 7, 16, 100, 65_536, BUCKETS_MAX])
def test_a_slot_has_the_bucket_of_every_key_with_its_lower_bits(buckets: int) -> None:
    slots, random = jump_slots(buckets), Random(buckets)
    assert len(slots) == 1 << SEED_BITS
    for key in (0, 1, SEED_MASK, SEED_MASK + 1, *(random.randrange(1 << 27) for _ in range(300))):
        assert slots[key & SEED_MASK] == jump_hash(key, buckets), key


@pytest.mark.parametrize("buckets", [0, -1, BUCKETS_MAX + 1])
def test_no_other_number_of_buckets(buckets: int) -> None:
    with pytest.raises(InvariantError):
        jump_slots(buckets)
