"""How the RabbitMQ page looks: its chart in a paused lab, where no frame comes that would draw it; what a phone shows
first of a queue; fields that show what is typed."""

import json

from playwright.sync_api import Page, expect

from tests.browser.conftest import wait_text
from tests.browser.test_rabbitmq_page import ANSWER, Pass, Profile, open_page, order
from tests.supervisor.site import SupervisedSite


def test_the_chart_of_a_paused_lab_takes_on_theme_and_language(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    orders = open_page(profile(), site)
    let_pass(orders, 4)
    orders.keyboard.press(" ")
    orders.wait_for_selector("body[data-still]")
    chart = orders.locator("#series")
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".legendtext").first).to_have_text("ready")

    def paper() -> str:
        return str(chart.locator(".main-svg").first.evaluate("svg => svg.style.background"))

    light = paper()
    orders.emulate_media(color_scheme="dark")
    orders.wait_for_function(
        "was => document.querySelector('#series .main-svg').style.background !== was", arg=light
    )
    dark = paper()
    orders.evaluate("scrollTo(0, 0)")
    orders.click("#language")
    expect(chart.locator(".legendtext").first).to_have_text("就绪")
    orders.emulate_media(color_scheme="light")
    orders.wait_for_function(
        "was => document.querySelector('#series .main-svg').style.background !== was", arg=dark
    )
    assert paper() == light


def test_a_queue_without_samples_has_no_other_queues_lines_under_its_name(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    orders = open_page(profile(), site)
    let_pass(orders, 4)
    orders.locator("#series").scroll_into_view_if_needed()
    expect(orders.locator("#series .legendtext").first).to_have_text("ready")
    wait_text(orders, "#series-of", "pdf")
    order(orders, "vhost", name="empty")
    orders.select_option("#vhost", "empty")
    expect(orders.locator("#series > *")).to_have_count(0)
    wait_text(orders, "#series-of", "No queue is declared here.")
    expect(orders.locator("#series-wait")).to_be_hidden()
    orders.select_option("#vhost", "shop")
    expect(orders.locator("#series .legendtext").first).to_have_text("ready")


def test_a_refused_import_keeps_its_text_and_the_next_one_has_one_answer(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    page = open_page(profile(), site)
    queue = {"name": "imported", "vhost": "shop", "durable": True, "auto_delete": False}
    bad = json.dumps({"queues": [queue | {"arguments": {"x-message-ttl": -1}}]})
    order(page, "import", definitions=bad)
    wait_text(
        page, "#order .bad", "406 PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'imported'"
    )
    assert page.input_value("#order [name=definitions]") == bad
    expect(page.locator("#notice")).to_be_hidden()
    good = [queue | {"arguments": {}}, queue | {"name": "left", "arguments": {"x-queue-type": "quorum"}}]
    order(page, "import", definitions=json.dumps({"queues": good}))
    let_pass(page, 3)
    wait_text(page, ANSWER, "Import definitions: done. Quorum queues and streams, here durable queues: left.")
    expect(page.locator("#order")).to_be_hidden()
    page.select_option("#vhost", "shop")
    expect(page.locator("#queues tr[data-key=imported]")).to_be_visible()
    expect(page.locator("#answers li")).to_have_count(1)
    order(page, "user", name="till")
    wait_text(page, "#order .bad", "till")
    expect(page.locator("#order")).to_be_visible()
    assert page.input_value("#order [name=name]") == "till"


def test_an_order_in_a_paused_lab_says_at_its_form_that_it_waits(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    page = open_page(profile(), site)
    page.select_option("#user", "guest")
    page.keyboard.press(" ")
    page.wait_for_selector("body[data-still]")
    order(page, "get", name="parked")
    wait_text(page, "#order", "The lab is paused: this order waits until it runs.")
    page.click("#publish")
    wait_text(page, "#try-waits", "The lab is paused")
    order(page, "vhost", name="more")
    expect(page.locator("#order")).to_be_hidden()
    page.keyboard.press("Escape")
    page.click("#play")
    expect(page.locator("#try-waits")).to_be_hidden()
    let_pass(page, 2)
    expect(page.locator("#answers li")).to_have_count(3)


def test_a_header_that_is_missing_is_called_so_and_its_x_match_stands_beside_it(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(profile(), site)
    page.select_option("#try-exchange", "docs")
    expect(page.locator("#tried td.missing")).to_have_text("format=pdfno such header")
    expect(page.locator("#tried td.rule")).to_have_text("x-match=alleach must match")
    page.click("#language")
    expect(page.locator("#tried td.missing i")).to_have_text("没有此首部")


def test_a_phone_shows_of_each_queue_why_it_grows_and_how_deep_it_is(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    page = open_page(profile(viewport={"width": 390, "height": 844}), site)
    let_pass(page, 12)
    row = page.locator("#queues tr[data-key=pdf]")
    expect(row.locator(".why")).to_contain_text("no consumer")
    cells = [row.locator("td").nth(place).bounding_box() for place in (0, 7, 2, 5, 1)]
    name, why, ready, acked, kind = [box for box in cells if box]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in (name, why, ready, acked, kind))
    assert name["y"] < why["y"] < ready["y"] == acked["y"] < kind["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_key_of_three_words_is_seen_whole_and_choices_are_not_cut(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(profile(), site)
    page.fill("#try-key", "quick.orange.rabbit")
    assert page.locator("#try-key").evaluate("field => field.scrollWidth <= field.clientWidth")
    assert cut_choices(page) == []
    page.click("#try summary")
    page.click("[data-verb=declare_queue]")
    for width in (1440, 1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for language in ("en", "zh-Hans"):
            for kind in ("string", "integer", "json", "void", "boolean"):
                for rows in ("#try", "#order"):
                    page.select_option(f"{rows} .table-rows li select", kind)
                assert cut_choices(page) == [], (width, language, kind)
            page.click("#language")


def test_a_phone_shows_a_traced_methods_fields_below_its_name_and_a_desktop_beside_it(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    page = open_page(profile(viewport={"width": 390, "height": 844}), site)
    number = page.locator("#trace-connection option", has_text="c3").get_attribute("value")
    page.select_option("#trace-connection", number)
    page.click("#trace-go")
    let_pass(page, 3)
    wait_text(page, "#traced", "basic.deliver")
    page.click("#play")
    page.wait_for_selector("body[data-still]")
    rows = """() => [...document.querySelectorAll("#traced tbody tr")].map((row) => {
      const lines = [...row.cells].map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        const {x, right, y, bottom} = text.getBoundingClientRect();
        return {x, right, y, bottom};
      });
      return {lines, height: row.getBoundingClientRect().height};
    })"""
    for row in page.evaluate(rows):
        time, way, channel, method, fields = row["lines"]
        assert all(line["x"] >= 0 and line["right"] <= 390 for line in row["lines"])
        assert time["y"] == way["y"] == channel["y"] < method["y"] < fields["y"] or fields["y"] == 0
        assert row["height"] < 60 + max(0, fields["bottom"] - fields["y"])
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1440, "height": 900})
    for row in page.evaluate(rows):
        *_, method, fields = row["lines"]
        assert abs(method["y"] - fields["y"]) < 1 or fields["y"] == 0


def cut_choices(page: Page) -> list[str]:
    """Selects that do not show the whole of what is chosen."""
    cut: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main select")].filter(({clientWidth}) => clientWidth).filter((select) => {
          const words = document.createElement("span"), style = getComputedStyle(select);
          words.style.cssText = `position:absolute;white-space:pre;font:${style.font}`;
          words.textContent = select.selectedOptions[0]?.textContent ?? "";
          document.body.append(words);
          const wide = words.getBoundingClientRect().width;
          words.remove();
          return wide + parseFloat(style.paddingLeft) + 20 > select.clientWidth;
        }).map(({id}) => id)"""
    )
    return cut
