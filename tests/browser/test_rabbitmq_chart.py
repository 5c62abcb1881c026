"""The chart of the RabbitMQ page in a paused lab, where no frame comes that would draw it."""

from playwright.sync_api import expect

from tests.browser.test_rabbitmq_page import Pass, Profile, open_page
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
