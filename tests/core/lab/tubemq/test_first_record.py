"""Panel `tubemq`: the time from start() to a client's first record, in its parts, and what is named apart."""

from typing import Any

from tests.core.lab.tubemq.test_commands import panel
from tests.core.lab.tubemq.tubemq_lab import at, lab_of

LANES = {"partitions": 6, "brokers": 3, "rate": 200}


def first(lab: Any, name: str) -> Any:
    return panel(lab)["clients"][name]["first"]


def test_client_that_shares_out_for_itself_needs_milliseconds_and_its_process_is_apart() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15)
    for name in ("c1", "c2"):
        shown = first(lab, name)
        assert shown["is_over"] and 0 < shown["us"] < 100_000, shown
        assert [what for what, _ in shown["parts"]] == ["reads"]
        assert [what for what, _ in shown["apart"]] == ["boot"] and shown["apart"][0][1] >= 300_000


def test_time_in_which_a_client_is_refused_is_apart() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, "tubemq_restart", "c1", source_count=9, node_id=0)
    at(lab, 25)
    shown = first(lab, "c1")
    assert not shown["is_over"] and dict(shown["apart"])["refused"] > 5_000_000 and shown["us"] <= 1_000_000
    at(lab, 25, "tubemq_restart", "c1", source_count=2, node_id=0)
    at(lab, 30)
    assert first(lab, "c1")["is_over"] and first(lab, "c1")["us"] < 100_000


def test_time_in_which_nothing_is_given_to_a_client_is_apart() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, "tubemq_restart", "c1", source_count=2, node_id=0)
    at(lab, 15, "tubemq_assign", "c1", partitions=[])
    at(lab, 40)
    assert dict(first(lab, "c1")["apart"])["nothing"] > 20_000_000 and first(lab, "c1")["us"] < 100_000
    at(lab, 40, "tubemq_assign", "c1", partitions=panel(lab)["brokers"]["1"]["partitions"][:1])
    at(lab, 55)
    shown = first(lab, "c1")
    assert shown["us"] < 5_000_000 and dict(shown["apart"])["nothing"] > 20_000_000


def test_newcomer_that_its_master_serves_waits_for_a_cycle_its_loser_the_report_and_itself() -> None:
    lab = lab_of(algorithm="server", consumers=2, **LANES)
    at(lab, 100, "join")
    at(lab, 200)
    shown = first(lab, "c3")
    assert shown["is_over"] and [what for what, _ in shown["parts"]] == [
        "cycle", "loser", "report", "gainer", "reads",
    ]  # fmt: skip
    waits = dict(shown["parts"])
    assert waits["cycle"] <= 60_000_000 and all(
        waits[part] <= 13_100_000 for part in ("loser", "report", "gainer")
    )
    assert sum(waits.values()) == shown["us"] and waits["reads"] < 1_000_000


def test_wait_is_shown_while_it_goes_on() -> None:
    lab = lab_of(algorithm="server", consumers=2, **LANES)
    at(lab, 12)
    shown = first(lab, "c1")
    assert not shown["is_over"] and [what for what, _ in shown["parts"]] == ["cycle"]


def test_request_that_a_master_accepts_is_no_refusal_and_one_that_failed_is() -> None:
    lab = lab_of(algorithm="server", consumers=2, **LANES)
    at(lab, 12)
    assert [what for what, _ in first(lab, "c1")["apart"]] == ["boot"]
    at(lab, 60, "tubemq_master_offline", master=1)
    at(lab, 61, "join")
    at(lab, 70)
    assert dict(first(lab, "c3")["apart"]).get("refused", 0) > 0


def test_tries_that_a_broker_refuses_and_their_sleeps_are_apart() -> None:
    lab = lab_of(consumers=2, source_count=-1, **LANES)
    at(lab, 12, "tubemq_assign", "c1", partitions=["1:flights:0"])
    at(lab, 20, "tubemq_assign", "c2", partitions=["1:flights:0", "1:flights:1"])
    at(lab, 40)
    shown = first(lab, "c2")
    assert shown["is_over"] and shown["us"] < 1_000_000 <= dict(shown["apart"])["refused"], shown
