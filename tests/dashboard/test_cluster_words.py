"""The cluster page says nothing without words, and has no words that it never says."""

import re
from pathlib import Path

from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.cluster.settings import Truncation
from broker_core.lab.kafka.views.cluster import STATES
from broker_core.lab.kafka.views.copies import FOLLOWS, LEADS, NOT_RUNNING, WITHOUT_LEADER
from broker_core.lab.kafka.views.wire import TOLD
from dashboard.sentences.cluster import CLUSTER

ROOT = Path(__file__).parents[2]
BROKER_VERBS = (
    "stop",
    "pause",
    "crash",
    "cut_power",
    "lose_disk",
    "resume",
    "come_back",
    "slow_disk",
    "quick_disk",
    "skew_clock",
    "set_clock",
)
LINK_VERBS = ("cut_link", "heal_link", "slow_link", "quick_link")
WRITER_VERBS = ("pause_writer", "resume_writer")
OPERATOR = ("create_topic", "add_partitions", "reassign", "elect", "elect_unclean", "start_writer")
DID_MORE = (
    "skew_clock_behind",
    "cut_link_one_way",
    "create_topic",
    "reassign",
    "take_back",
    "elect",
    "elect_all",
    "elect_unclean",
    "elect_unclean_all",
    "start_writer",
)
QUIET = ("heartbeat", "heartbeat_answer", "metadata")
LOST = ("acks_1", "unclean_election", "truncated", "destroyed")
MEANS = (
    *(f"lost.{reason}" for reason in LOST),
    "duplicated",
    "refused",
    "fenced",
    "error",
    "moved",
    "nothing",
    "without_leader",
    "unavailable",
    "unclean",
    "elections",
    "cut",
    "left",
    "came",
    *STATES[1:],
)
STAGES = (
    "running",
    "starting",
    "recovering",
    "shutting_down",
    "down",
    "paused",
    "crashed",
    "fenced",
    "disk_lost",
    "disk_slow",
)
FAMILIES = {
    "state": STATES,
    "about": STATES,
    "head": STATES,
    "means": MEANS,
    "stage": STAGES,
    "as": ("leader", "follower", "copy"),
    "role": (LEADS, FOLLOWS, WITHOUT_LEADER, NOT_RUNNING),
    "fetch": ("truncating", "asking_offsets", "failed"),
    "truncation": [way.value for way in Truncation],
    "verb": (*BROKER_VERBS, *LINK_VERBS, *WRITER_VERBS),
    "verb_about": (*BROKER_VERBS, *WRITER_VERBS),
    "operator": OPERATOR,
    "stage_about": [stage for stage in STAGES if stage != "running"],
    "move": ("adds_and_removes", "adds", "removes"),
    "phase": [phase.value for phase in Phase],
    "did": (*BROKER_VERBS, *LINK_VERBS, *WRITER_VERBS, *DID_MORE),
    "wire": [kind for kind, _ in TOLD.values() if kind not in QUIET],
    "link": ("whole", "cut", "cut_one_way"),
    "acks": ("all", "1", "0"),
    "acks_about": ("all", "1", "0"),
}


def codes_said() -> set[str]:
    files = [
        *(ROOT / "static/js/cluster").glob("*.js"),
        ROOT / "static/js/lane/log_links.js",
        ROOT / "templates/dashboard/cluster.html",
    ]
    text = "\n".join(file.read_text() for file in files)
    literal = set(re.findall(r"""["'`](cluster\.[a-z_.]+[a-z])["'`]""", text))
    heads = re.findall(r"head: \[([^\]]*)\]\s*\.map\(\s*\(code\) =>\s*say\(`cluster\.column", text)
    columns = {f"cluster.column.{name}" for names in heads for name in re.findall(r'"(\w+)"', names)}
    return (
        literal
        | columns
        | {f"cluster.{family}.{name}" for family, names in FAMILIES.items() for name in names}
    )


def test_all_that_it_says_has_words_and_all_its_words_are_said() -> None:
    said = codes_said()
    assert sorted(said - CLUSTER.keys()) == []
    assert sorted(CLUSTER.keys() - said) == []
