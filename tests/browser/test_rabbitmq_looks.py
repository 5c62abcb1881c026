"""How the RabbitMQ page looks: its chart in a paused lab, where no frame comes that would draw it; what a phone shows
first of a queue; fields that show what is typed."""

from playwright.sync_api import expect

from tests.browser.conftest import wait_text
from tests.browser.test_rabbitmq_page import Pass, Profile, open_page, order
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
    cut = page.evaluate(
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
    assert cut == []
