"""Stories of the Cluster page: what it draws, what is done to it by mouse, key, stroke and finger, and what
its cards and tables say."""

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import THREE, open_cluster, save, wait_text
from tests.browser.story_clock import let_pass
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
NINE = {
    "model": "kafka",
    "brokers": 9,
    "partitions": 96,
    "min_insync_replicas": 2,
    "offsets_partitions": 3,
    "racks": list("abcabcabc"),
}
NOTICED_MS = 60_000


def pause(page: Page) -> None:
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")


def stroke(page: Page, link: str, share: float = 0.5, half: int = 16) -> None:
    """Draw across a link, at right angles to it. share: where on its length."""
    x, y, dx, dy = page.eval_on_selector(
        f'[data-link="{link}"]',
        """(path, share) => {
          const length = path.getTotalLength(), [at, next] = [share, share + 0.01].map((part) => path.getPointAtLength(length * part));
          const { x, y } = at.matrixTransform(path.getScreenCTM()), size = Math.hypot(next.x - at.x, next.y - at.y);
          return [x, y, (at.y - next.y) / size, (next.x - at.x) / size];
        }""",
        share,
    )
    page.mouse.move(x - half * dx, y - half * dy)
    page.mouse.down()
    page.mouse.move(x, y, steps=4)
    page.mouse.move(x + half * dx, y + half * dy, steps=4)
    page.mouse.up()


def expect_link(page: Page, link: str, state: str = "") -> None:
    """state: what its label ends with; "": it is whole."""
    expect(page.locator(f'[data-link="{link}"]')).to_have_attribute(
        "aria-label", re.compile(f"{state}$" if state else "[^s]$")
    )


def test_each_copy_is_a_strip_with_its_flag_and_the_table_says_the_same(cluster: Page) -> None:
    page = cluster
    expect(page.locator("#story-what")).to_have_text("All copies are in the ISR.")
    pause(page)
    ends = page.evaluate(
        "() => [...document.querySelectorAll('#picture text')].map((e) => e.textContent).filter((t) => "
        "t.startsWith('LEO '))"
    )
    flags = page.locator('#picture path[data-mark="hw"]')
    assert len(ends) == 3 and flags.count() == 3
    page.keyboard.press("t")
    expect(page.locator("#copies-twin")).to_be_visible()
    expect(page.locator("#picture")).to_be_hidden()
    assert page.locator("#copies-twin tbody tr").count() == 3
    table = page.locator("#copies-twin tbody tr").evaluate_all(
        "rows => rows.map((row) => 'LEO ' + row.cells[5].textContent)"
    )
    assert sorted(table) == sorted(ends)
    assert (
        page.locator("#nodes-twin tbody tr").count() == 3 and page.locator("#map-twin tbody tr").count() == 3
    )
    assert page.locator("#links-twin li").count() >= 9
    save(page, "cluster-tables")
    page.keyboard.press("t")
    expect(page.locator("#picture")).to_be_visible()
    save(page, "cluster")


def test_a_link_is_cut_and_healed_by_a_stroke_across_it_and_by_a_key(cluster: Page) -> None:
    page = cluster
    stroke(page, "broker-1>broker-2")
    expect_link(page, "broker-1>broker-2", "cut both ways")
    wait_text(page, "#cards", "Link 1–2 cut")
    stroke(page, "broker-1>broker-2")
    expect_link(page, "broker-1>broker-2")
    page.locator('[data-link="broker-1>broker-2"]').focus()
    page.keyboard.press("Enter")
    wait_text(page, "#verbs-about", "Link between Broker 1 and Broker 2")
    page.keyboard.press("c")
    expect_link(page, "broker-1>broker-2", "cut both ways")
    page.keyboard.press("c")
    expect_link(page, "broker-1>broker-2")
    page.get_by_role("button", name="Cut what Broker 1 sends").click()
    wait_text(page, "#verbs-about", "nothing from Broker 1 arrives")
    save(page, "cluster-one-way")


def test_a_clients_links_are_drawn_when_it_is_chosen_and_one_is_cut(cluster: Page) -> None:
    page = cluster
    page.click('[data-client="producer"]')
    page.wait_for_selector('[data-link="broker-3>producer"]')
    assert page.locator('[data-link$=">producer"]').count() == 3
    stroke(page, "broker-3>producer", 0.7, 12)
    expect_link(page, "broker-3>producer", "cut both ways")
    wait_text(page, "#cards", "Link Broker 3–Producer cut")
    page.keyboard.press("Escape")
    expect(
        page.locator('[data-link="broker-1>producer"], [data-link="broker-2>producer"]')
    ).not_to_have_count(2)
    expect_link(page, "broker-3>producer", "cut both ways")


def test_a_broker_crashes_and_comes_back_by_keys_and_its_card_says_what_it_meant(
    cluster: Page, site: SupervisedSite
) -> None:
    page = cluster
    page.locator('[data-broker="1"]').focus()
    page.keyboard.press("ArrowRight")
    assert (
        page.evaluate("() => document.activeElement.dataset.broker ?? document.activeElement.dataset.part")
        != "1"
    )
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    wait_text(page, "#verbs-about", "Broker 1: running")
    page.keyboard.press("x")
    wait_text(page, "#cards", "Broker 1 crashed")
    wait_text(page, "#verbs-about", "Broker 1: crashed")
    wait_text(page, "#story", "the controller has not noticed yet")
    let_pass(page, site.run_dir, 10)  # the session of a broker is 9 s
    page.wait_for_function(
        "() => document.getElementById('story').textContent.includes('under-replicated')", timeout=NOTICED_MS
    )
    card = page.locator("#cards li").first
    expect(card).to_contain_text("3 healthy")
    expect(card).to_contain_text("3 under-replicated")
    expect(card).to_contain_text("unavailable, the longest for")
    save(page, "cluster-crashed")
    page.keyboard.press("b")
    let_pass(page, site.run_dir, 6)
    page.wait_for_function(
        "() => document.getElementById('story').textContent.includes('All copies are in the ISR.')",
        timeout=NOTICED_MS,
    )
    expect(page.locator("#cards li").first).to_contain_text("Broker 1 came back")
    expect(page.locator("#cards li").first).to_contain_text("joined an ISR")


def test_every_verb_of_a_broker_is_a_button_that_says_what_it_is(cluster: Page) -> None:
    page = cluster
    page.click('[data-broker="2"]')
    for verb in ("Stop", "Pause", "Crash", "Cut power", "Lose disk", "Slow disk", "Skew clock"):
        expect(page.locator("#verbs").get_by_role("button", name=verb)).to_have_attribute(
            "title", re.compile(".")
        )
    page.locator("#verbs").get_by_role("button", name="Pause").click()
    expect(page.locator('[data-broker="2"]')).to_have_attribute("aria-label", re.compile("paused"))
    page.click('[data-broker="2"]')  # a paused one is hatched, and can be pressed all the same
    wait_text(page, "#verbs-about", "Choose a broker")
    page.click('[data-broker="2"]')
    page.locator("#verbs").get_by_role("button", name="Resume").click()
    expect(page.locator('[data-broker="2"]')).to_have_attribute("aria-label", re.compile("running"))
    page.locator("#verbs").get_by_role("button", name="Slow disk").click()
    expect(page.locator("#verbs").get_by_role("button", name="Fast disk")).to_be_visible()


def test_it_speaks_chinese_all_over(profile: Profile, site: SupervisedSite) -> None:
    page = open_cluster(profile(locale="zh-CN"), site)
    expect(page.locator("#story-what")).to_have_text("所有副本都在 ISR 中。")
    page.click('[data-broker="1"]')
    page.keyboard.press("x")
    wait_text(page, "#cards", "Broker 1 崩溃")
    text = page.inner_text("main")
    assert not re.search(r"cluster\.\w", text)
    assert set(re.findall(r"\b[a-z]{4,}", text)) <= {
        "records",
        "acks",
        "insync",
        "replicas",
        "unclean",
        "leader",
        "election",
        "enable",
        "kill",
    }
    save(page, "cluster-zh")


def test_on_a_phone_everything_is_within_reach(profile: Profile, site: SupervisedSite) -> None:
    page = open_cluster(
        profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site, NINE
    )
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    rows = page.evaluate(
        "() => new Set([...document.querySelectorAll('[data-partition]')].map((tile) => "
        "tile.getAttribute('y'))).size"
    )
    assert rows <= 12
    page.tap('[data-partition="records-17"]')
    expect(page.locator("#large-title")).to_have_text("records-17")
    leader = page.evaluate(
        "() => document.querySelector('#large-words').textContent.match(/Leader (\\d)/)[1]"
    )
    page.tap(f'[data-broker="{leader}"]')
    page.locator("#verbs").get_by_role("button", name="Crash").tap()
    wait_text(page, "#cards", f"Broker {leader} crashed")
    order = page.evaluate(
        "() => ['.canvas', '.rail', '.series'].map((name) => "
        "document.querySelector(name).getBoundingClientRect().top)"
    )
    assert order == sorted(order)
    save(page, "cluster-390")


def test_all_partitions_of_a_large_cluster_are_in_sight(profile: Profile, site: SupervisedSite) -> None:
    page = open_cluster(profile(viewport={"width": 1280, "height": 720}), site, NINE)
    assert page.locator("[data-partition]").count() == 96
    assert page.eval_on_selector(".map-box", "box => box.scrollHeight <= box.clientHeight + 1")
    page.locator('[data-partition="records-0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#large-title")).to_have_text("records-1")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280
    save(page, "cluster-nine")


def test_in_slow_motion_messages_stand_on_their_way_with_their_numbers(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_cluster(profile(), site, {**THREE, "network_delay_us": 50_000})
    page.click("[data-speed='0.1']")
    for words in (r"^fetch \d+, epoch \d+", r"records?|ack: offset"):
        page.wait_for_function(
            "words => [...document.querySelectorAll('#picture circle.dot title')].some((title) => "
            "RegExp(words).test(title.textContent))",
            arg=words,
        )
    page.wait_for_function(
        "() => [...document.querySelectorAll('#picture [data-said]:not(.m)')].some(({ textContent }) => "
        "/fetch|record/.test(textContent))"
    )
    save(page, "cluster-slow")


def test_the_chart_has_ends_and_lags_and_is_drawn_at_most_once_a_second(cluster: Page) -> None:
    page = cluster
    page.locator(".series").scroll_into_view_if_needed()
    page.wait_for_selector("#series .plot-container")
    drawn = page.evaluate("""() => new Promise((done) => {
      const root = document.getElementById("series");
      let count = 0;
      root.on("plotly_afterplot", () => { count += 1; });
      setTimeout(() => done(count), 4000);
    })""")
    assert 1 <= drawn <= 5
    names = page.evaluate("() => document.getElementById('series').data.map(({ name }) => name)")
    assert names[:4] == ["LEO 1", "LEO 2", "LEO 3", "HW"] and len(names) == 7
    save(page, "cluster-chart")


def test_a_copy_far_behind_stands_below_a_break_and_no_word_is_cut_off(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_cluster(profile(), site, {**THREE, "partitions": 1})
    page.locator("[data-broker]").first.wait_for()
    leader = page.evaluate(
        "() => document.querySelector('#large-words').textContent.match(/Leader (\\d)/)[1]"
    )
    page.click(f'[data-broker="{int(leader) % 3 + 1}"]')
    page.keyboard.press("x")
    page.click("[data-speed='20']")
    page.wait_for_selector("#picture .shell", timeout=NOTICED_MS, state="attached")
    page.keyboard.press(" ")
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            "() => { const svg = document.getElementById('picture'); return svg.clientWidth <= "
            "svg.parentElement.clientWidth; }"
        )
        outside = page.evaluate(
            """() => { const svg = document.getElementById("picture"), box = svg.getBoundingClientRect();
              return [...svg.querySelectorAll("text")].filter((text) => { const { left, right, bottom } = text.getBoundingClientRect();
                return left < box.left - 1 || right > box.right + 1 || bottom > box.bottom + 1; }).map(({ textContent }) => textContent); }"""
        )
        assert outside == [], width
        save(page, f"cluster-far-behind-{width}")


def test_who_opens_a_paused_lab_sees_the_curves_of_the_minutes_before(cluster: Page) -> None:
    page = cluster
    pause(page)
    address, count = page.url, "() => document.getElementById('series').data[0].x.length"
    late = page.context.new_page()
    late.goto(address)
    late.locator(".series").scroll_into_view_if_needed()
    late.wait_for_selector("#series .plot-container")
    assert late.evaluate(count) >= 4
    assert late.evaluate(
        "() => document.getElementById('series').data.every(({ line }) => line.shape === 'hv')"
    )
    save(late, "cluster-late")
    late.goto(address.replace("/cluster/", "/groups/"))
    late.wait_for_selector("[d].spark")
    assert late.locator("[d].spark").count() == 3


def test_dots_fly_from_broker_to_broker_and_go(cluster: Page) -> None:
    seen = cluster.evaluate(
        """async () => {
          const overlay = document.querySelector("#picture").lastElementChild, until = performance.now() + 20000, places = new Map();
          while (performance.now() < until) {
            await new Promise((done) => setTimeout(done, 30));
            for (const dot of overlay.querySelectorAll("circle.dot")) {
              const { x, y } = dot.getBoundingClientRect();
              places.set(dot, [...(places.get(dot) ?? []), `${Math.round(x)}/${Math.round(y)}`]);
            }
            const moved = [...places].find(([dot, all]) => !dot.isConnected && new Set(all).size > 1);
            if (moved) return { places: moved[1].length };
          }
          return null;
        }"""
    )
    assert seen is not None and seen["places"] > 1
    said = cluster.locator("#picture [data-said=request]").all_text_contents()
    assert any(words.startswith("fetch ") for words in said)


def test_the_picture_is_as_wide_as_its_box_whenever_the_window_changes(cluster: Page) -> None:
    page = cluster
    pause(page)
    widths = (
        "(svg => [svg.getBoundingClientRect().width, "
        "svg.parentElement.clientWidth])(document.getElementById('picture'))"
    )
    for width in (1100, 1600):
        was = page.evaluate(widths)[0]
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            f"was => {{ const [own, box] = {widths}; return own !== was && Math.abs(own - box) < 1; }}",
            arg=was,
        )
