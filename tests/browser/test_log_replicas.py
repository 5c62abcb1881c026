"""Stories of the log page on a cluster: a copy's own log from its link on the Cluster page, its checkpoints,
the group's offsets partition."""

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, post, save
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]


def open_from(stage: Page, page: str, link: str) -> Page:
    """A page of the lab's cluster, and the log to which its link leads."""
    opened = stage.context.new_page()
    opened.goto(stage.evaluate("() => document.querySelector('#to-log').href").replace("/log", f"/{page}/"))
    opened.locator(link).first.click()
    opened.wait_for_selector("#folder .seg-box")
    return opened


def test_each_copy_of_a_partition_opens_as_its_own_log_with_its_checkpoints(
    profile: Profile, site: SupervisedSite
) -> None:
    stage = open_stage(profile(), site)
    log = open_from(stage, "cluster", "#copy-logs a")
    expect(log.locator("#replica")).to_have_text(
        re.compile(r"^Broker 1 (leads|follows).* Log start \d.*HW \d.*LEO \d")
    )
    expect(log.locator("#broker")).to_have_value("1")
    log.locator("#broker").select_option("2")
    expect(log.locator("#replica")).to_have_text(re.compile(r"^Broker 2 "))
    expect(log).to_have_url(re.compile("broker=2"))
    log.get_by_role("button", name="leader-epoch-checkpoint", exact=True).click()
    expect(log.locator("#texts pre")).to_have_text(re.compile(r"^0\n1\n0 \d+\n$"))
    log.get_by_role("button", name="../replication-offset-checkpoint").click()
    expect(log.locator("#texts pre")).to_have_text(re.compile(r"^0\n\d+\n__consumer_offsets 0 "))
    log.reload()
    expect(log.locator("#broker")).to_have_value("2")


def test_the_groups_page_leads_to_the_partition_that_keeps_the_group(
    profile: Profile, site: SupervisedSite
) -> None:
    stage = open_stage(profile(locale="zh-CN"), site)
    log = open_from(stage, "groups", "#to-offsets:not([hidden])")
    expect(log.locator("#title")).to_have_text(re.compile(r"^__consumer_offsets-\d+$"))
    expect(log.locator("#replica")).to_have_text(re.compile("是这个分区的 Leader"))
    expect(log.locator("#batch-records, #records").first).to_contain_text("group=lab")


def test_a_replica_that_is_not_there_leads_to_the_leader_s(profile: Profile, site: SupervisedSite) -> None:
    stage = open_stage(profile(), site)
    page = stage.context.new_page()
    page.goto(stage.evaluate("() => document.querySelector('#to-log').href") + "?broker=9&partition=1")
    page.wait_for_selector("#folder .seg-box")
    expect(page.locator("#replica")).to_have_text(re.compile(r"^Broker \d leads this partition"))
    expect(page.locator("#notice-text")).to_contain_text("broker=9&partition=1")


def test_an_address_of_a_partition_or_topic_that_is_not_there_is_asked_for_once(
    profile: Profile, site: SupervisedSite
) -> None:
    stage = open_stage(profile(), site)
    href = stage.evaluate("() => document.querySelector('#to-log').href")
    for asked in ("partition=77", "topic=nope", "topic=nope&partition=0"):
        page = stage.context.new_page()
        refused: list[str] = []
        page.on(
            "response", lambda answer, refused=refused: answer.status >= 400 and refused.append(answer.url)
        )
        page.goto(f"{href}?{asked}")
        page.wait_for_selector("#folder .seg-box")
        expect(page.locator("#notice-text")).to_contain_text(asked.split("&")[0])
        expect(page.locator("#title")).to_have_text(re.compile(r"^flights-\d+$"))
        page.wait_for_timeout(1500)
        assert not [url for url in refused if "/kafka/log/" in url]
        page.close()


def test_more_partitions_are_offered_in_the_page_that_is_open(profile: Profile, site: SupervisedSite) -> None:
    stage = open_stage(profile(), site)
    href = stage.evaluate("() => document.querySelector('#to-log').href")
    log, cluster = stage.context.new_page(), stage.context.new_page()
    log.goto(href)
    log.wait_for_selector("#folder .seg-box")
    expect(log.locator("#replica")).to_have_text(re.compile(r"^Broker \d leads this partition"))
    expect(log.locator("#broker option")).to_have_text(["broker 1", "broker 2", "broker 3"])
    expect(log.locator("#topic option")).to_have_text(["flights", "__consumer_offsets"])
    before = log.locator("#partition option").count()
    cluster.goto(href.replace("/log", "/cluster/"))
    cluster.wait_for_selector("#map [data-partition]")
    cluster.keyboard.press("a")
    cluster.keyboard.press("Enter")
    expect(cluster.locator("#add-partitions")).to_be_hidden()
    expect(log.locator("#partition option")).not_to_have_count(before)


def test_the_log_looks_back_as_every_page_does(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    lab = post(page, "/api/labs/", {"scenario": "demo", "name": "Back"})["id"]
    page.goto(f"{site.url}lab/{lab}/kafka/log?partition=0")
    page.wait_for_selector("#folder .seg-box")
    page.wait_for_function("() => Number(document.querySelector('#folder').dataset.seq) > 30", timeout=60_000)
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    expect(page.locator("#replica")).to_contain_text("LEO")
    now = then = int(page.get_attribute("#folder", "data-seq") or 0)
    for _step in range(20):  # no record need have come to this partition between two changes
        before = page.text_content("#clock") or ""
        page.keyboard.press("<")
        expect(page.locator("#clock")).not_to_have_text(before)
        expect(page.locator("#main")).not_to_have_attribute("data-waits", "")
        if (then := int(page.get_attribute("#folder", "data-seq") or 0)) < now:
            break
    expect(page.locator("#to-now")).to_be_visible()
    assert 0 < then < now
    expect(page.locator("#replica")).to_contain_text(f"LEO {then}")
    expect(page.locator("#state-hash")).not_to_be_empty()
    save(page, "log-past")
    page.keyboard.press("l")
    expect(page.locator("body")).not_to_have_attribute("data-past", "")
    expect(page.locator("#folder")).not_to_have_attribute("data-seq", str(then))
    assert int(page.get_attribute("#folder", "data-seq") or 0) >= now
