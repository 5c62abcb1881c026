"""Stories of the page of a consumer group: what the chart shows of a rebalance, whom a person chooses and
what follows, tables, phone, comparison."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save, wait_frame, wait_text
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
LetPass = Callable[[Page, float], None]
LANE = {
    "model": "kafka",
    "brokers": 3,
    "offsets_partitions": 3,
    "initial_rebalance_delay_ms": 500,
    "session_timeout_ms": 6_000,
}
LONG_MS = 60_000


def open_group(
    context: BrowserContext,
    site: SupervisedSite,
    lane: dict[str, Any] = LANE,
    consumers: int = 3,
    title: str = "Stable",
) -> Page:
    """The page of a lab that was just made, moving, once its head says so."""
    page = context.new_page()
    page.goto(f"{site.url}labs/")
    lab = page.evaluate(
        """async (scenario) => {
          const csrf = JSON.parse(document.getElementById("page").textContent).csrf;
          const headers = {"Content-Type": "application/json", "X-CSRFToken": csrf};
          const answer = await fetch("/api/labs/", {method: "POST", headers, body: JSON.stringify(scenario)});
          return (await answer.json()).id;
        }""",
        {
            "scenario": {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 20, "rate": 20},
            }
        },
    )
    page.goto(f"{site.url}lab/{lab}/kafka/groups/")
    wait_frame(page)
    wait_text(page, "#story", title)
    return page


@pytest.fixture
def group(profile: Profile, site: SupervisedSite) -> Page:
    return open_group(profile(), site)


def pause(page: Page) -> None:
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")


def no_sideways(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_new_member_is_seen_message_by_message(group: Page) -> None:
    group.keyboard.press("j")
    wait_text(group, "#sequence", "generation 2")
    pause(group)
    texts = group.locator("#sequence text").all_text_contents()
    for said in (
        "JoinGroup",
        "MEMBER_ID_REQUIRED",
        "REBALANCE_IN_PROGRESS",
        "generation 2",
        "SyncGroup ×4",
        "now",
    ):
        assert any(said in text for text in texts), said
    assert group.locator("#sequence .parked").count() >= 4
    save(group, "groups-rebalanced")
    dot = group.locator('#sequence [data-exchange][aria-label^="SyncGroup of c4"]').last
    dot.evaluate("dot => dot.scrollIntoView({ block: 'center' })")  # clear of the bar of time
    dot.hover(force=True)
    expect(group.locator("#message")).to_be_visible()
    expect(group.locator("#message-answered")).to_contain_text("records 9-11")
    expect(group.locator("#message-asked")).to_contain_text("generation_id")
    group.mouse.move(4, 4)
    expect(group.locator("#message")).to_be_hidden()
    dot.focus()
    expect(group.locator("#message")).to_be_visible()
    group.keyboard.press("ArrowLeft")
    expect(group.locator("#message-title")).not_to_be_empty()
    count = group.locator("#sequence [data-exchange]").count()
    group.keyboard.press("f")
    expect(group.locator("#fold")).to_have_attribute("aria-pressed", "false")
    assert group.locator("#sequence [data-exchange]").count() != count


def left_of(page: Page, one: str, other: str) -> bool:
    first, second = page.locator(one).bounding_box(), page.locator(other).bounding_box()
    assert first is not None and second is not None
    return (
        first["x"] >= 16
        and first["x"] + first["width"] <= second["x"]
        and abs(first["y"] - second["y"]) < 200
    )


def test_a_long_gc_pause_lasts_a_session_and_is_named(group: Page, let_pass: LetPass) -> None:
    group.locator('[data-member="c2"]').click()
    expect(group.locator('[data-order="group_freeze"]')).to_be_visible()
    group.keyboard.press("g")
    expect(group.locator("#findings")).to_contain_text("c2 is frozen")
    expect(group.locator("#findings")).to_contain_text("session.timeout.ms")
    expect(group.locator("#findings .cure")).to_contain_text("let its process run again")
    assert left_of(group, "#sequence", "#members")
    assert group.locator(".waits").bounding_box()["y"] < group.locator("#sequence").bounding_box()["y"]
    expect(group.locator("#story")).to_contain_text("c2 is silent")
    assert group.locator("#grid .lane-dark").count() == 4
    expect(group.locator("#sequence .ring.bad")).to_have_count(1)
    let_pass(group, 12)  # its session of 6 s, and the rebalance after it
    expect(group.locator("#story")).to_contain_text("Stable: 2 members", timeout=LONG_MS)
    group.keyboard.press("g")  # a zombie: it is refused, and joins as a new member
    let_pass(group, 6)
    expect(group.locator("#story")).to_contain_text("Stable: 3 members", timeout=LONG_MS)


def test_a_stuck_poll_goes_on_beating(group: Page) -> None:
    group.keyboard.press("1")
    expect(group.locator('[data-member="c1"]')).to_have_attribute("aria-pressed", "true")
    group.keyboard.press("k")
    expect(group.locator('[data-member="c1"] .what')).to_have_text("poll loop is stuck")
    expect(group.locator("#findings")).to_contain_text("max.poll.interval.ms")
    group.keyboard.press("k")
    expect(group.locator('[data-member="c1"] .what')).to_contain_text("reads 4 partitions")


def test_the_coordinator_fails_over(group: Page, let_pass: LetPass) -> None:
    before = group.locator("#life-broker, #sequence text").all_text_contents()
    assert any(text.startswith("broker ") for text in before)
    group.keyboard.press("c")
    group.locator('[data-order^="crash-"]').click()
    wait_text(group, "#story", "The group has no coordinator")
    expect(group.locator("#machine .now-in")).to_have_count(0)
    without_one = re.compile("looks for the coordinator|the coordinator does not answer|gets no answer")
    expect(group.locator('[data-member="c1"] .what')).to_have_text(without_one)
    let_pass(group, 12)
    expect(group.locator("#story")).to_contain_text("Stable", timeout=LONG_MS)
    expect(group.locator("#epochs b")).to_have_text("1")


def test_the_consumer_protocol_has_three_epochs_and_targets(
    profile: Profile, site: SupervisedSite, let_pass: LetPass
) -> None:
    page = open_group(profile(color_scheme="dark"), site, {**LANE, "group_protocol": "consumer"})
    expect(page.locator("#epochs div")).to_have_count(3)
    page.keyboard.press("j")
    wait_text(page, "#story", "Reconciling")
    expect(page.locator("#machine text.now-in")).to_have_text("Reconciling")
    expect(page.locator("#grid .cell-of.target").first).to_be_visible()
    save(page, "groups-consumer-dark")
    let_pass(page, 10)
    expect(page.locator("#story")).to_contain_text("Stable: 4 members", timeout=LONG_MS)
    assert len(set(page.locator("#epochs b").all_text_contents())) == 1


def test_every_picture_has_a_table_and_a_phone_shows_it_all(profile: Profile, site: SupervisedSite) -> None:
    page = open_group(
        profile(viewport={"width": 390, "height": 844}, locale="zh-CN"), site, consumers=0, title="没有成员"
    )
    no_sideways(page)
    page.locator('[data-order="join"]').click()
    expect(page.locator("#members [data-member]")).to_have_count(2)
    page.locator("#rare").click()  # on a phone what is seldom needed is behind it
    page.locator("#twins").click()
    for twin in ("sequence-twin", "grid-twin", "members-twin"):
        expect(page.locator(f"#{twin} tbody tr").first).to_be_visible()
    expect(page.locator("#machine-twin li").last).to_contain_text("状态")
    no_sideways(page)
    save(page, "groups-phone-tables")


def test_sixteen_members_and_ninety_six_partitions(profile: Profile, site: SupervisedSite) -> None:
    page = open_group(profile(), site, {**LANE, "partitions": 96}, consumers=16)
    pause(page)
    expect(page.locator("#grid .lane-of")).to_have_count(96)
    assert page.locator("#members [data-member]").count() == 17
    no_sideways(page)
    save(page, "groups-many")


def test_the_history_is_compared_in_the_worker(group: Page) -> None:
    group.keyboard.press("j")
    wait_text(group, "#story", "Stable: 4 members")
    group.locator("#compare").click()
    expect(group.locator("#compare-words")).to_contain_text("Run again up to", timeout=LONG_MS)
    rows = group.locator("#compare-table tbody tr")
    assert rows.count() >= 5
    expect(group.locator("#compare-table tbody th").first).to_have_text(re.compile("range.*this lane"))
    assert group.locator("#compare-table td.best").count() > 0
    group.reload()
    expect(rows.first).to_be_visible()


def run_own(page: Page, body: str) -> None:
    """Type a function into the pane, and run it."""
    page.locator("#own-source").fill("def assign(members, partitions):\n" + body)
    page.locator("#own-run").click()


def test_a_function_of_ones_own_shares_the_partitions_out(group: Page) -> None:
    run_own(
        group,
        "    first = min(members)\n    return {first: [(t, n) for t in partitions for n in "
        "range(partitions[t])]}\n",
    )
    expect(group.locator("#own-words")).to_contain_text("The group runs your function", timeout=LONG_MS)
    wait_text(group, "#story", "Stable: 3 members")
    wait_text(group, "#members", "reads 12 partitions")
    expect(group.locator("#members")).to_contain_text("has no partition")
    expect(group.locator("#sub")).to_contain_text("assignor custom")
    group.locator("#own-back").click()
    wait_text(group, "#members", "reads 4 partitions")
    expect(group.locator("#sub")).to_contain_text("assignor range")


def test_what_a_function_may_not_do_is_said_at_its_line_and_changes_nothing(group: Page) -> None:
    """Which texts are refused, and how: tests/dashboard/test_assignors.py."""
    run_own(group, "    import os\n    return {}\n")
    expect(group.locator("#own-words")).to_contain_text("line 2: an assignor cannot use import")
    expect(group.locator("#own-source")).to_have_attribute("aria-invalid", "")
    expect(group.locator("#sub")).to_contain_text("assignor range")


def test_a_function_that_fails_is_said_beside_its_text_at_the_member_and_in_what_holds_the_group_up(
    group: Page,
) -> None:
    """What else can go wrong, and its words: tests/dashboard/test_assignors.py, tests/js/groups/assignors.test.mjs."""
    run_own(group, "    x = [1]\n    return {min(members): [x[7]]}\n")
    for place in ("#own-words", "#findings", "#members"):
        expect(group.locator(place)).to_contain_text(
            "'s assignor failed in line 3: list index out of range", timeout=LONG_MS
        )
    expect(group.locator("#own-back")).to_be_visible()


def test_the_links_lead_there_and_back(profile: Profile, site: SupervisedSite, group: Page) -> None:
    group.locator("#to-cluster").click()
    group.locator("#to-groups").click()
    expect(group).to_have_url(re.compile("/kafka/groups/"))
    group.locator("#to-stage").click()
    group.locator("#to-groups").click()
    expect(group).to_have_url(re.compile("/kafka/groups/"))
