"""The worked examples of the articles on Kafka, under Kafka's rule and, where it differs, under the article's
own."""

from broker_core.kafka.assignors import ASSIGNORS, Assignment, StickyUserData, Subscription

Named = dict[str, str]


def group(**topics: str) -> dict[str, Subscription]:
    """A fresh group: c0="t0 t1" subscribes C0 to both."""
    return {name.upper(): Subscription(tuple(listed.split())) for name, listed in topics.items()}


def written(assignment: Assignment) -> Named:
    """The assignment as the articles write it: t0p1 is partition 1 of t0."""
    return {
        member: " ".join(f"{topic}p{number}" for topic, number in row) for member, row in assignment.items()
    }


def share(assignor_id: str, members: dict[str, Subscription], counts: dict[str, int]) -> Named:
    return written(ASSIGNORS[assignor_id].assign(members, counts))


def remembering(
    members: dict[str, Subscription], assignment: Assignment, generation: int
) -> dict[str, Subscription]:
    """The members after a generation: eager ones keep it in the user data, cooperative ones in what they
    own."""
    return {
        member: Subscription(
            subscription.topics,
            owned=tuple(assignment[member]),
            generation=generation,
            user_data=StickyUserData(tuple(assignment[member]), generation),
        )
        for member, subscription in members.items()
    }


def test_article_001_range_two_topics_of_four_come_out_even() -> None:
    members = group(c0="t0 t1", c1="t0 t1")
    assert share("range", members, {"t0": 4, "t1": 4}) == {
        "C0": "t0p0 t0p1 t1p0 t1p1",
        "C1": "t0p2 t0p3 t1p2 t1p3",
    }


def test_article_001_range_two_topics_of_three_give_the_first_one_more_of_each() -> None:
    members = group(c0="t0 t1", c1="t0 t1")
    assert share("range", members, {"t0": 3, "t1": 3}) == {"C0": "t0p0 t0p1 t1p0 t1p1", "C1": "t0p2 t1p2"}


def test_article_001_round_robin_deals_two_topics_of_three_evenly() -> None:
    members = group(c0="t0 t1", c1="t0 t1")
    assert share("roundrobin", members, {"t0": 3, "t1": 3}) == {
        "C0": "t0p0 t0p2 t1p1",
        "C1": "t0p1 t1p0 t1p2",
    }


# Article 001 says that C1 subscribes to t1 and C2 to all. Its results are those of Kafka's javadoc, where C1
# subscribes to t0 and t1; with t1 alone they come out the same.
UNEQUAL = {"t0": 1, "t1": 2, "t2": 3}


def test_article_001_round_robin_leaves_unequal_subscriptions_unbalanced() -> None:
    for c1 in ("t1", "t0 t1"):
        members = group(c0="t0", c1=c1, c2="t0 t1 t2")
        assert share("roundrobin", members, UNEQUAL) == {
            "C0": "t0p0",
            "C1": "t1p0",
            "C2": "t1p1 t2p0 t2p1 t2p2",
        }


def test_article_001_sticky_balances_unequal_subscriptions() -> None:
    for c1 in ("t1", "t0 t1"):
        members = group(c0="t0", c1=c1, c2="t0 t1 t2")
        assert share("sticky", members, UNEQUAL) == {"C0": "t0p0", "C1": "t1p0 t1p1", "C2": "t2p0 t2p1 t2p2"}


FOUR_TOPICS = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}


def test_article_001_sticky_begins_like_round_robin() -> None:
    members = group(c0="t0 t1 t2 t3", c1="t0 t1 t2 t3", c2="t0 t1 t2 t3")
    expected = {"C0": "t0p0 t1p1 t3p0", "C1": "t0p1 t2p0 t3p1", "C2": "t1p0 t2p1"}
    for assignor_id in ("roundrobin", "sticky", "cooperative-sticky"):
        assert share(assignor_id, members, FOUR_TOPICS) == expected


def test_article_001_c1_leaves_and_round_robin_reshuffles() -> None:
    members = group(c0="t0 t1 t2 t3", c2="t0 t1 t2 t3")
    assert share("roundrobin", members, FOUR_TOPICS) == {
        "C0": "t0p0 t1p0 t2p0 t3p0",
        "C2": "t0p1 t1p1 t2p1 t3p1",
    }


def test_article_001_c1_leaves_and_sticky_deals_only_its_partitions() -> None:
    """The article, with Kafka's javadoc, gives t2p0 to C0 and t0p1 to C2. The code gives them the other way
    around: C2 has two and is below the floor of four by two, C0 by one, and the free ones go around by
    topic."""
    members = group(c0="t0 t1 t2 t3", c1="t0 t1 t2 t3", c2="t0 t1 t2 t3")
    for assignor_id in ("sticky", "cooperative-sticky"):
        before = ASSIGNORS[assignor_id].assign(members, FOUR_TOPICS)
        left = remembering(members, before, generation=1)
        del left["C1"]
        after = ASSIGNORS[assignor_id].assign(left, FOUR_TOPICS)
        assert written(after) == {"C0": "t0p0 t3p0 t1p1 t0p1", "C2": "t1p0 t2p1 t2p0 t3p1"}
        assert all(set(before[member]) <= set(after[member]) for member in left)


NINE = {"T1": 3, "T2": 3, "T3": 3}


def test_article_003_range_cuts_nine_partitions_into_five_and_four() -> None:
    members = group(c0="T1 T2 T3", c1="T1 T2 T3")
    assert share("range_global", members, NINE) == {
        "C0": "T1p0 T1p1 T1p2 T2p0 T2p1",
        "C1": "T2p2 T3p0 T3p1 T3p2",
    }


def test_article_003_kafka_cuts_the_same_nine_into_six_and_three() -> None:
    members = group(c0="T1 T2 T3", c1="T1 T2 T3")
    assert share("range", members, NINE) == {"C0": "T1p0 T1p1 T2p0 T2p1 T3p0 T3p1", "C1": "T1p2 T2p2 T3p2"}


def test_article_003_round_robin_deals_by_hash() -> None:
    """Hash codes of T1-0 .. T3-2 rise with topic and number, so here both rules agree."""
    members = group(c0="T1 T2 T3", c1="T1 T2 T3")
    dealt = {"C0": "T1p0 T1p2 T2p1 T3p0 T3p2", "C1": "T1p1 T2p0 T2p2 T3p1"}
    assert share("round_robin_hashed", members, NINE) == dealt == share("roundrobin", members, NINE)


def test_article_003_the_hash_shuffles_what_names_would_order() -> None:
    """A tenth partition is where number and hash part: t-10 hashes far above t-9, and b-0 .. b-9 lie in
    between."""
    members = group(c0="a b", c1="a b")
    counts = {"a": 11, "b": 2}
    by_hash = share("round_robin_hashed", members, counts)
    by_name = share("roundrobin", members, counts)
    assert by_hash == {"C0": "ap0 ap2 ap4 ap6 ap8 bp0 ap10", "C1": "ap1 ap3 ap5 ap7 ap9 bp1"}
    assert by_name == {"C0": "ap0 ap2 ap4 ap6 ap8 ap10 bp1", "C1": "ap1 ap3 ap5 ap7 ap9 bp0"}


def test_article_003_balance_comes_before_stickiness() -> None:
    members = group(c0="t", c1="t")
    all_at_c0 = remembering(members, {"C0": [("t", number) for number in range(4)], "C1": []}, generation=1)
    assert share("sticky", all_at_c0, {"t": 4}) == {"C0": "tp0 tp1", "C1": "tp2 tp3"}


def test_a_third_member_joins_cooperatively_in_two_rebalances() -> None:
    counts = {"t": 9}
    assign = ASSIGNORS["cooperative-sticky"].assign
    members = group(c0="t", c1="t")
    joined = remembering(members, assign(members, counts), generation=1) | group(c2="t")
    first = assign(joined, counts)
    assert written(first) == {"C0": "tp0 tp2 tp4", "C1": "tp1 tp3 tp5", "C2": ""}
    second = assign(remembering(joined, first, generation=2), counts)
    assert written(second) == {"C0": "tp0 tp2 tp4", "C1": "tp1 tp3 tp5", "C2": "tp6 tp7 tp8"}
