"""What programs have done is counted by the second in which they did it, whenever somebody looks."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import SECOND_US
from broker_core.lab.consumer import Consumer
from broker_core.lab.shared.in_flight import BUCKETS_KEPT_S, LaneTraffic

HOUR_US = 3_600 * SECOND_US
moments = st.lists(
    st.one_of(st.integers(0, 40).map(lambda second: second * SECOND_US), st.integers(0, 40 * SECOND_US)),
    max_size=60,
).map(sorted)


@given(
    moments,
    st.sets(st.integers(0, 40 * SECOND_US)),
    st.sampled_from([0, HOUR_US]),
)
def test_each_second_has_what_was_handled_in_it(times, looks, ahead_us):
    consumer = Consumer("c1", 1, 1, 1, "c1", 0)
    traffic = LaneTraffic(by_node={"c1": consumer})
    traffic.begin(0, ahead_us)
    handled = iter([*enumerate(times), (len(times), 50 * SECOND_US)])
    place, at_us = next(handled)
    for stop_us in sorted({*looks, *range(0, 41 * SECOND_US, SECOND_US)}):
        while at_us <= stop_us:
            traffic.handled("c1", place, at_us + ahead_us)
            place, at_us = next(handled)
        traffic.fold(stop_us)
        seen = Counter(moment // SECOND_US for moment in times if moment <= stop_us)
        since = stop_us // SECOND_US - BUCKETS_KEPT_S
        assert {second: count for second, count in consumer.acked.items() if second >= since} == {
            s: seen[s] for s in seen if s >= since
        }
        assert len(consumer.acked) <= BUCKETS_KEPT_S + 1
