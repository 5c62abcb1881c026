"""Seeded lives of Pulsar subscriptions: nothing is lost, nothing acknowledged comes again, mark-delete never
goes back, a key is at one consumer.
"""

import pytest

from broker_core.pulsar.settings import EXCLUSIVE
from tests.simulation.seeds import seeds
from tests.simulation.subscription_life import MS, SubscriptionLife

STEPS = 80
FOUND = [1937552884]
"""A holder that was asked whether it is alive was closed after its word, once who asked had left."""


@pytest.mark.parametrize("seed", seeds(found=FOUND))
def test_everything_that_was_sent_is_handled_or_a_dead_letter(seed):
    life = SubscriptionLife(seed).run(STEPS)
    what = f"seed {seed}: {life.type} {life.order} {life.config}"
    assert life.unacked == 0, what
    dead = {*life.dead_letters}
    lost = [number for number in range(life.sent) if not life.handled.count[number] and number not in dead]
    assert not lost, f"{what}: {lost[:10]} were neither handled nor dead letters"
    if life.receipts:
        assert sum(topic.taken for topic in life.stored) == life.sent, f"{what}: each message is taken once"
        assert not life.has_dedup or not sum(topic.repeated for topic in life.stored), what
    if life.config.cannot and life.config.max_redeliver:
        assert dead >= {*range(0, life.sent, 7)}, what
    print(
        f"\n{what}: {life.sent} sent, {sum(life.handled.count.values()) - len(life.handled.count)} "
        f"handled again"
    )


def test_healed_exclusive_life_is_read_to_its_end_whichever_of_two_consumers_stays():
    """The holder's last words prove that it is alive: who subscribes before it is gone is refused, and does
    not ask again."""
    stayed = set()
    for seed in range(40):
        life = SubscriptionLife(seed)
        if life.type != EXCLUSIVE:
            continue
        life.world.advance(life.world.now_us + 50 * MS)
        life.join()
        life.produce()
        life.world.advance(life.world.now_us + 50 * MS)
        life.heal()
        stayed.update(life.living)
        assert life.state(life.living[0]).is_subscribed and life.unacked == 0, f"seed {seed}"
    assert stayed == {"c1", "c2"}


def test_a_life_is_the_same_each_time():
    one, other = SubscriptionLife(3).run(30), SubscriptionLife(3).run(30)
    assert one.told == other.told and one.world.made == other.world.made
