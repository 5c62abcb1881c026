"""Stories of an operator on the Cluster page: topics, partitions, replicas, elections and writers, and what a wrong
one is answered at its field."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import save, wait_text


def test_a_topic_gets_more_partitions_and_never_fewer(cluster: Page) -> None:
    page = cluster
    page.keyboard.press("a")
    before = int(page.locator("#add-partitions [name=count]").input_value()) - 1
    expect(page.locator("#add-partitions [data-of]")).to_contain_text("in total")
    page.fill("#add-partitions [name=count]", str(before))
    page.keyboard.press("Enter")
    expect(page.locator("#add-partitions .bad")).to_be_visible()
    expect(page.locator("#add-partitions [name=count]")).to_be_focused()
    page.fill("#add-partitions [name=count]", str(before + 2))
    page.keyboard.press("Enter")
    expect(page.locator("#add-partitions")).to_be_hidden()
    expect(page.locator("#map [data-partition]")).to_have_count(before + 2)
    save(page, "cluster-partitions")


def test_a_new_topic_says_how_long_it_keeps_and_how_it_cleans_and_a_wrong_number_is_refused_at_its_field(
    cluster: Page,
) -> None:
    page = cluster
    page.keyboard.press("n")
    page.keyboard.type("audit")
    page.fill("#create-topic [name=partitions]", "1")
    page.locator("#create-topic summary").click()
    page.select_option("#create-topic [name=cleanup_policy]", "compact,delete")
    page.fill("#create-topic [name=retention_ms]", "-1")
    page.fill("#create-topic [name=min_cleanable_dirty_ratio_percent]", "200")
    page.locator("#create-topic summary").click()
    page.locator("#create-topic [type=submit]").click()
    ratio = page.locator("#create-topic [name=min_cleanable_dirty_ratio_percent]")
    expect(page.locator("#create-topic .bad")).to_contain_text("from 0 to 100")
    expect(ratio).to_be_focused()
    save(page, "cluster-settings-refused")
    ratio.fill("20")
    page.fill("#create-topic [name=min_compaction_lag_ms]", "9")
    page.fill("#create-topic [name=max_compaction_lag_ms]", "8")
    page.keyboard.press("Enter")
    expect(page.locator("#create-topic .bad")).to_contain_text("must not be above max.compaction.lag.ms")
    expect(page.locator("#create-topic [name=min_compaction_lag_ms]")).to_be_focused()
    page.fill("#create-topic [name=min_compaction_lag_ms]", "")
    page.keyboard.press("Enter")
    expect(page.locator("#large-title")).to_have_text("audit-0")
    site, lab = page.url.split("/lab/")[0], page.url.split("/lab/")[1].split("/")[0]
    journal = page.request.get(f"{site}/api/labs/{lab}/journal/").json()
    made = next(
        command["args"]
        for command in reversed(journal["commands"])
        if command["kind"] == "cluster_create_topic"
    )
    wanted = {
        "cleanup_policy": "compact,delete",
        "retention_ms": -1,
        "min_cleanable_dirty_ratio_percent": 20,
        "max_compaction_lag_ms": 8,
    }
    assert {name: made[name] for name in wanted} == wanted
    assert "segment_ms" not in made and "min_compaction_lag_ms" not in made


def test_an_operator_makes_a_topic_moves_it_and_elects_and_a_wrong_one_is_refused_at_its_field(
    cluster: Page,
) -> None:
    page = cluster
    page.keyboard.press("n")
    expect(page.locator("#create-topic [name=topic]")).to_be_focused()
    page.keyboard.type("payments")
    page.fill("#create-topic [name=replication_factor]", "5")
    page.keyboard.press("Enter")
    expect(page.locator("#create-topic .bad")).to_contain_text("INVALID_REPLICATION_FACTOR")
    expect(page.locator("#create-topic [name=replication_factor]")).to_be_focused()
    save(page, "cluster-refused")
    page.fill("#create-topic [name=replication_factor]", "3")
    page.fill("#create-topic [name=partitions]", "1")
    page.keyboard.press("Enter")
    expect(page.locator("#large-title")).to_have_text("payments-0")
    expect(page.locator("#create-topic")).to_be_hidden()
    first = page.evaluate(
        "() => document.querySelector('#large-words').textContent.match(/ISR ([\\d ]+)/)[1].trim().split(' ')"
    )
    page.keyboard.press("m")
    expect(page.locator("#reassign [name=replicas]")).to_have_value(" ".join(first))
    page.fill("#reassign [name=replicas]", "7")
    page.keyboard.press("Enter")
    expect(page.locator("#reassign .bad")).to_contain_text("broker 7 is not registered")
    page.fill("#reassign [name=replicas]", f"{first[1]} {first[0]}")
    page.keyboard.press("Enter")
    wait_text(page, "#cards", f"payments-0 moves to brokers {first[1]} {first[0]}")
    wait_text(page, "#large-words", "all copies")
    page.wait_for_function(
        "() => document.querySelector('#large-words').textContent.match(/ISR ([\\d "
        "]+)/)[1].trim().split(' ').length === 2"
    )
    page.get_by_role("button", name="Elect preferred leader").click()
    wait_text(page, "#large-words", f"Leader {first[1]}")
    expect(page.get_by_role("button", name="Elect unclean")).to_be_disabled()
    page.keyboard.press("w")
    page.wait_for_selector('[data-client="writer-1"]')
    page.click('[data-client="writer-1"]')
    wait_text(page, "#producer-words", "transactional.id payments")
    page.keyboard.press("z")
    wait_text(page, "#verbs-about", "writer-1: paused")
    page.keyboard.press("w")
    page.wait_for_selector('[data-client="writer-2"]')
    wait_text(page, "#cards", "writer-2 started with transactional.id payments")
    page.keyboard.press("z")
    wait_text(page, "#cards", "A producer was fenced")
    save(page, "cluster-operator")
