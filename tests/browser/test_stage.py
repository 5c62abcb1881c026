"""Stories of the Stage: what a person does and sees. Waits are for drawn frames, never for time."""

import json
import re
import sqlite3
import urllib.request
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import drawn_seq, open_stage, save, wait_frame, wait_text
from tests.supervisor.site import SupervisedSite

LANES = ("pulsar", "kafka", "tubemq", "rabbitmq")
MILLION = {"count": 1_000_000}
Profile = Callable[..., BrowserContext]


def rows(page: Page, lane: str) -> list[str]:
    return page.eval_on_selector_all(f"#{lane} .row", "rows => rows.map((row) => row.dataset.consumer)")


def snapshot(page: Page, site: SupervisedSite) -> dict:
    lab = page.get_attribute("#main", "data-lab")
    with urllib.request.urlopen(f"{site.url}api/labs/{lab}/snapshot/", timeout=10) as response:
        return json.load(response)


def do(page: Page, consumer: str, verb: str, lane: str = "pulsar") -> None:
    page.click(f'#{lane} [data-consumer="{consumer}"] [data-verb={verb}]')


def test_opens_with_four_lanes_that_move(page: Page) -> None:
    assert page.eval_on_selector_all("[data-lane]", "lanes => lanes.map((lane) => lane.id)") == list(LANES)
    for lane in LANES:
        assert rows(page, lane) == ["c1", "c2", "c3"]
        page.wait_for_function(
            "lane => document.querySelector(`#${lane} .pic svg`).children.length > 5", arg=lane
        )
    clock = page.text_content(".clock")
    page.wait_for_function("clock => document.querySelector('.clock').textContent !== clock", arg=clock)
    expect(page.locator("#fresh")).to_have_attribute("data-state", "live")
    save(page, "stage-light")


def test_first_frame_is_drawn_by_the_server(profile: Profile, site: SupervisedSite) -> None:
    context = profile(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.url)
    assert page.text_content("h1")
    for lane in LANES:
        assert page.locator(f"#{lane} .row").count() == 3
        assert page.locator(f"#{lane} .twin tbody tr").count() >= 3


def test_added_consumer_gets_a_bill_in_each_lane(page: Page) -> None:
    page.keyboard.press("a")
    wait_text(page, "h1", "c4 joined")
    for lane in LANES:
        page.wait_for_selector(f'#{lane} [data-consumer="c4"]')
    page.wait_for_function(
        "() => /^[1-9]\\d*/.test(document.querySelector('#pulsar [data-slot=hero]').textContent)"
    )
    assert re.match(r"of keys moved", page.text_content("#pulsar [data-slot=hero_note]") or "")
    save(page, "stage-added")


def test_verbs_act_on_that_consumer_in_every_lane(page: Page) -> None:
    do(page, "c2", "slow", "kafka")
    for lane in LANES:
        page.wait_for_selector(f'#{lane} [data-consumer="c2"][data-state=slow]')
    do(page, "c2", "resume", "tubemq")
    for lane in LANES:
        page.wait_for_selector(f'#{lane} [data-consumer="c2"][data-state=live]')
    do(page, "c3", "pause", "rabbitmq")
    for lane in LANES:
        page.wait_for_selector(f'#{lane} [data-consumer="c3"][data-state=paused]')
    do(page, "c1", "crash")
    page.wait_for_selector('#kafka [data-consumer="c1"][data-state=crashed] [data-verb=rejoin]')
    wait_text(page, "h1", "c1 crashed")
    for lane in LANES:
        word = page.locator(f'#{lane} [data-consumer="c1"] [data-field=word]')
        expect(word).to_have_text("silent")
        expect(word).to_be_visible()
    assert re.search(r"\d+\u202fs", page.text_content('#kafka [data-consumer="c1"] [data-field=left]') or "")
    do(page, "c1", "rejoin", "kafka")
    wait_text(page, "h1", "c1 is back")
    do(page, "c3", "leave")
    wait_text(page, "h1", "c3 left")
    for lane in LANES:
        page.wait_for_selector(f'#{lane} [data-consumer="c3"]', state="detached")


def test_rule_and_type_are_switched_in_place_and_the_article_says_how_it_differs(page: Page) -> None:
    page.click("#kafka [data-algorithm=sticky]:not(.item)")
    page.wait_for_selector("#kafka [data-algorithm=sticky][aria-pressed=true]")
    page.click("#pulsar .more")
    page.click("#more-pulsar [data-algorithm=ring_document]")
    page.wait_for_selector("#pulsar .seg [data-algorithm=ring_document][aria-pressed=true]")
    wait_text(page, "#pulsar [data-slot=note]", "by the article")
    page.click("#pulsar [data-rest] summary")
    expect(page.locator("#pulsar p.about")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#pulsar p.about")).to_be_hidden()
    page.click("#pulsar .more")
    page.click("#more-pulsar [data-algorithm=auto_split]")
    page.wait_for_selector("#pulsar .pic svg [id='none'], #pulsar .pic svg rect")
    page.click("#pulsar .more")
    page.click("#more-pulsar [data-algorithm=failover]")
    wait_text(page, "#pulsar [data-slot=title]", "Pulsar Failover")
    expect(page.locator("#pulsar .pic rect.cell")).to_have_count(12)
    page.click("#pulsar .more")
    page.click("#more-pulsar [data-algorithm=shared]")
    wait_text(page, "#pulsar [data-slot=title]", "Pulsar Shared")
    wait_text(page, "#pulsar .pic", "next turn")


def test_pause_step_speed_and_play(page: Page) -> None:
    page.click("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    expect(page.locator("#step")).to_be_enabled()
    record = page.text_content("[data-slot=record_index]")
    page.keyboard.press(".")
    page.wait_for_function(
        "old => document.querySelector('[data-slot=record_index]').textContent !== old", arg=record
    )
    page.click("[data-speed='4']")
    page.wait_for_selector("[data-speed='4'][aria-pressed=true]")
    page.locator("h1").click()
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind"))


def test_language_changes_in_place_and_stays(page: Page) -> None:
    assert page.text_content("#announce") == "" and page.get_attribute("#announce", "role") == "status"
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    page.click("#pulsar [data-why]")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.getElementById('announce').textContent.includes('c4')")
    page.click("#language")
    wait_text(page, "h1", "c4 加入。一次变化，四种代价。")
    wait_text(page, "#add", "添加消费者")
    assert page.get_attribute("html", "lang") == "zh-Hans"
    shown = page.evaluate("() => document.body.innerText")
    assert not re.search(r"\b(joined|share|Why|live|partitions moved|queue flights)\b", shown), shown
    save(page, "stage-zh")
    page.reload()
    wait_text(page, "h1", "c4 加入。一次变化，四种代价。")


def test_phone_shows_one_lane_and_all_hero_figures(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    expect(page.locator("#pulsar")).to_be_visible()
    expect(page.locator("#kafka")).to_be_hidden()
    assert page.locator(".tabs b").count() == 4
    page.tap("#add")
    wait_text(page, "h1", "c4 joined")
    page.tap("[data-tab=kafka]")
    expect(page.locator("#kafka")).to_be_visible()
    expect(page.locator("#pulsar")).to_be_hidden()
    page.wait_for_function("() => document.querySelector('#kafka .pic svg').children.length > 5")
    for lane in LANES:
        page.tap(f"[data-tab={lane}]")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    save(page, "stage-390")


def test_two_tabs_see_the_same_lab(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    assert other.get_attribute("#main", "data-lab") == page.get_attribute("#main", "data-lab")
    page.click("#add")
    wait_text(other, "h1", "c4 joined")
    page.click("#play")
    expect(other.locator("#fresh")).to_have_attribute("data-state", "paused")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    seq = max(drawn_seq(page), drawn_seq(other))
    for tab in (page, other):
        tab.wait_for_function("seq => Number(document.getElementById('main').dataset.seq) >= seq", arg=seq)
    texts = [
        tab.eval_on_selector_all(
            "[data-lane] [data-slot], [data-lane] [data-field]", "all => all.map((e) => e.textContent)"
        )
        for tab in (page, other)
    ]
    assert texts[0] == texts[1]


def test_snapshot_and_patches_in_the_browser_are_the_servers_view(page: Page, site: SupervisedSite) -> None:
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    do(page, "c2", "slow")
    page.wait_for_selector('#kafka [data-consumer="c2"][data-state=slow]')
    page.click("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    answer = snapshot(page, site)
    page.wait_for_function(
        "seq => Number(document.getElementById('main').dataset.seq) >= seq", arg=answer["seq"]
    )
    assert page.evaluate("() => window.highwater.view()") == snapshot(page, site)["view"]


def test_lost_connection_is_shown_and_recovers(page: Page) -> None:
    # Chromium's offline switch leaves websockets alone: so every new one goes where nobody listens, until the
    # way is free again.
    page.evaluate("""() => {
      const Real = window.WebSocket;
      window.WebSocket = class extends Real { constructor() { super(`ws://${location.host}/nobody/`); } };
      window.setFree = () => { window.WebSocket = Real; };
      window.highwater.drop();
    }""")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "disconnected")
    seq = drawn_seq(page)
    page.evaluate("() => window.setFree()")
    wait_frame(page, seq)
    expect(page.locator("#fresh")).to_have_attribute("data-state", "live")


def test_a_command_sent_twice_after_a_lost_answer_is_done_once(page: Page) -> None:
    lost = []

    def lose_first(route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route.request.post_data_json["command_id"])
            route.fetch()
            route.abort()

    page.route("**/commands/", lose_first)
    with page.expect_response(
        lambda response: response.url.endswith("/commands/") and response.status == 202
    ) as answered:
        page.click("#add")
    assert answered.value.request.post_data_json["command_id"] == lost[0]
    wait_text(page, "h1", "c4 joined")
    wait_frame(page)
    assert rows(page, "pulsar") == ["c1", "c2", "c3", "c4"]


def test_what_the_server_refuses_is_said_at_the_control(page: Page) -> None:
    page.route(
        "**/commands/",
        lambda route: route.continue_(
            post_data=json.dumps({**route.request.post_data_json, "args": {"count": 1_000_000}})
        ),
    )
    before = page.text_content("h1")
    page.click("#add")
    expect(page.locator("#notice")).to_be_visible()
    wait_text(page, "#notice-text", "Nothing changed")
    box, button = page.locator("#notice").bounding_box(), page.locator("#add").bounding_box()
    assert box and button and 0 <= box["y"] - (button["y"] + button["height"]) < 40
    wait_frame(page)
    assert page.text_content("h1") == before and rows(page, "kafka") == ["c1", "c2", "c3"]
    page.click("#notice-close")
    expect(page.locator("#notice")).to_be_hidden()


def test_another_persons_lab_can_be_watched_and_copied(
    page: Page, profile: Profile, site: SupervisedSite
) -> None:
    lab = page.get_attribute("#main", "data-lab")
    guest = open_stage(profile(), site, f"lab/{lab}/")
    guest.click("#add")
    expect(guest.locator("#notice-action")).to_have_text("Make my own copy")
    guest.click("#notice-action")
    guest.wait_for_url(lambda url: "/lab/" in url and lab not in url)
    wait_frame(guest)
    guest.click("#add")
    wait_text(guest, "h1", "c4 joined")
    assert rows(page, "pulsar") == ["c1", "c2", "c3"]


def test_another_key_forks_the_lab(page: Page) -> None:
    lab = page.get_attribute("#main", "data-lab")
    page.click("#pick-key")
    page.click("#keys [data-key=carrier]")
    page.wait_for_url(lambda url: "/lab/" in url and lab not in url)
    wait_text(page, "#pick-key", "carrier")
    wait_frame(page)
    expect(page.locator("[data-slot=record_key]")).to_have_text(
        re.compile(r"^[A-Z0-9]{2}$")
    )  # a carrier's code


def test_chart_is_drawn_before_and_when_it_is_scrolled_to(page: Page) -> None:
    page.wait_for_selector("#skew .main-svg", state="attached")
    expect(page.locator(".plot-wait")).to_be_hidden()
    page.locator("#skew").scroll_into_view_if_needed()
    page.mouse.wheel(0, 2000)
    page.wait_for_selector("#skew .main-svg .scatterlayer path.js-line")
    assert page.locator("#skew .scatterlayer .trace").count() == 4
    for name in ("Pulsar", "Kafka", "TubeMQ", "RabbitMQ"):
        wait_text(page, "#skew .infolayer", name)
    page.click(".twin-fold summary")
    page.wait_for_function("() => document.querySelectorAll('#skew-twin tr').length > 3")


def test_every_control_has_a_name_and_a_visible_focus(page: Page) -> None:
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a, summary, [role=img]')].filter((e) => e.checkVisibility?.() !== false)
             .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
    assert page.eval_on_selector("h1", "h1 => h1.getAttribute('aria-live')") == "polite"
    seen = set()
    while True:  # until the focus leaves the page at its end
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement === document.body"):
            break
        seen.add(
            page.evaluate(
                "() => document.activeElement.id || document.activeElement.dataset.algorithm || "
                "document.activeElement.dataset.verb"
            )
        )
        assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert {"language", "theme", "add", "pick-key", "range", "crash"} <= seen


def test_tables_take_the_place_of_pictures(page: Page) -> None:
    page.keyboard.press("t")
    reached = "boxes => boxes.map((box) => box.tabIndex)"
    for lane in LANES:
        expect(page.locator(f"#twin-{lane}")).to_be_visible()
        expect(page.locator(f"#{lane} .pic")).to_be_hidden()
    assert page.eval_on_selector_all(".lane .twin-box", reached) == [0, 0, 0, 0]
    cells = page.eval_on_selector_all(
        "#twin-kafka tbody tr", "rows => rows.map((row) => row.cells[1].textContent)"
    )
    assert len(cells) == 12 and set(cells) <= {"c1", "c2", "c3"}
    save(page, "stage-tables")
    page.keyboard.press("t")
    assert page.eval_on_selector_all(".lane .twin-box", reached) == [-1, -1, -1, -1]


def test_labs_are_listed_and_unknown_ones_say_so(page: Page, site: SupervisedSite) -> None:
    lab = page.get_attribute("#main", "data-lab")
    page.click(".menu a[href='/labs/']")
    expect(page.locator(f"a[href='/lab/{lab}/']")).to_be_visible()
    save(page, "labs")
    answer = page.goto(f"{site.url}lab/nothing-here/")
    assert answer is not None and answer.status == 404
    wait_text(page, "h1", "There is no lab nothing-here")


def test_a_notice_on_a_phone_stands_above_the_bottom_bar(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site)
    page.route(
        "**/commands/",
        lambda route: route.continue_(
            post_data=json.dumps({**route.request.post_data_json, "args": MILLION})
        ),
    )
    page.tap("#add")
    expect(page.locator("#notice")).to_be_visible()
    notice, bar = page.locator("#notice").bounding_box(), page.locator(".trans").bounding_box()
    assert notice and bar and notice["y"] > 600 and notice["y"] + notice["height"] <= bar["y"]
    page.tap("#notice-close")
    expect(page.locator("#notice")).to_be_hidden()


def test_a_stopped_lab_says_so_and_begins_anew(page: Page, profile: Profile, site: SupervisedSite) -> None:
    lab = page.get_attribute("#main", "data-lab")
    with sqlite3.connect(site.run_dir / "highwater.sqlite3", timeout=10) as database:
        database.execute(
            "update dashboard_lab set status = 'failed', failed_reason = 'InvariantError: c1 twice', "
            "name = 'Mine' where id = ?",
            (lab,),
        )
    guest = profile().new_page()
    guest.goto(f"{site.url}lab/{lab}/")
    expect(guest.locator("#stopped")).to_be_visible()
    expect(guest.locator("#fresh")).to_have_attribute("data-state", "stopped")
    expect(guest.locator("#stopped-reason")).to_be_visible()
    guest.click("#language")
    wait_text(guest, "#stopped-title", "这个实验室已停止")
    guest.click("#add")
    expect(guest.locator("#stopped-copy")).to_be_focused()
    guest.click("#stopped-copy")
    guest.wait_for_url(lambda url: "/lab/" in url and lab not in url)
    wait_frame(guest)
    expect(guest.locator("#stopped")).to_be_hidden()
    fresh = guest.evaluate(
        "lab => fetch(`/api/labs/${lab}/`).then((answer) => answer.json())",
        guest.get_attribute("#main", "data-lab"),
    )
    assert fresh["name"] == "Mine"


SEQUENCES = """() => new Promise((done) => {
  const seen = [], read = () => [...document.querySelectorAll("[data-picture]")].map((picture) => Number(picture.dataset.seq));
  const look = () => (seen.push(read()) < 200 ? requestAnimationFrame(look) : done(seen));
  requestAnimationFrame(look);
})"""


def test_the_lanes_of_a_frame_show_the_same_record(page: Page) -> None:
    """A frame is drawn in two halves; the second is never of a newer view than the first."""
    seen = page.evaluate(SEQUENCES)
    drawn = {sequences[0] for sequences in seen}
    assert len(drawn) > 5
    assert all(
        pulsar == kafka and tubemq == rabbitmq and tubemq <= pulsar
        for pulsar, kafka, tubemq, rabbitmq in seen
    )
    before = seen[0][
        2
    ]  # the first look can fall between the two halves: then this was drawn before anyone looked
    assert {sequences[2] for sequences in seen} <= drawn | {before}
