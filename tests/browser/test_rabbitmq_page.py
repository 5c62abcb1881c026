"""Stories of the RabbitMQ page: why a queue grows, a key tried word by word and published, orders with errors at their
fields, a server that crashes, permissions, definitions; phones, languages, the keyboard."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import save, wait_frame, wait_text
from tests.browser.reach import faults_of
from tests.browser.test_pulsar_page import MAKE
from tests.js.fixtures.make_rabbitmq import ORDERS
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
Pass = Callable[[Page, float], None]
ANSWER = "#answers li:first-child"


def open_page(
    context: BrowserContext, site: SupervisedSite, topology: dict[str, Any] | None = ORDERS
) -> Page:
    """The page of a lab of the visitor's own, with one RabbitMQ lane, moving."""
    page = context.new_page()
    page.goto(site.url + "labs/")
    lane: dict[str, Any] = {"model": "rabbitmq"} | ({} if topology is None else {"topology": topology})
    workload = {"kind": "uniform", "keys": 40, "rate": 30}
    made = page.evaluate(MAKE, {"lanes": [lane], "consumers": 3, "consumer_rate": 12, "workload": workload})
    assert "id" in made, made
    page.goto(f"{site.url}lab/{made['id']}/rabbitmq/")
    wait_frame(page)
    return page


def order(page: Page, verb: str, **values: str) -> None:
    """Fill the form of an order and send it."""
    if page.get_attribute(f"[data-verb={verb}]", "aria-expanded") == "false":
        page.click(f"[data-verb={verb}]")
    for name, value in values.items():
        page.fill(f"#order [name={name}]", value)
    page.click("#order .strong")


def typed_row(page: Page, form: str, name: str, value: str) -> None:
    """In the first row of a form's table."""
    page.fill(f"{form} .table-rows li:first-child .name", name)
    page.fill(f"{form} .table-rows li:first-child .value", value)


def part(page: Page, name: str) -> Locator:
    return page.locator(f'#graph [data-part="{name}"]')


@pytest.fixture
def orders(profile: Profile, site: SupervisedSite) -> Page:
    page = open_page(profile(), site)
    page.select_option("#user", "guest")
    return page


def test_a_queue_that_grows_stands_first_with_its_cause_and_its_cure(orders: Page, let_pass: Pass) -> None:
    let_pass(orders, 12)
    wait_text(orders, "h1", "pdf grows by")
    wait_text(orders, "h1", "no consumer")
    wait_text(orders, "#story", "A consumer ends it.")
    expect(orders.locator("#queues tbody tr").first).to_have_attribute("data-key", "pdf")
    orders.click("#consumers tr[data-key=c3] button")
    orders.keyboard.press("w")
    let_pass(orders, 12)
    wait_text(orders, "#queues tr[data-key=created]", "all at their prefetch")
    expect(part(orders, "queue:created")).to_be_visible()
    save(orders, "rabbitmq-grows")


def test_a_key_is_tried_word_by_word_and_published_for_real(orders: Page, let_pass: Pass) -> None:
    orders.select_option("#try-exchange", "orders")
    orders.keyboard.press("Escape")
    orders.fill("#try-key", "orders.eu.created")
    wait_text(orders, "#tried-words", "2 queues get one copy each. One more binding matches")
    states = orders.locator("#tried tbody tr").evaluate_all("rows => rows.map((row) => row.dataset.state)")
    assert states == ["gets", "again", "gets", "not"]
    missed = orders.locator("#tried tbody tr").nth(3)
    expect(missed.locator("td.miss")).to_have_text("paid≠ created")
    strong = orders.locator("#graph .way.binding[stroke-width='2.5']")
    expect(strong).to_have_count(3)
    orders.click("#publish")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "Published to orders with the key “orders.eu.created”: confirmed")
    orders.select_option("#user", "till")
    wait_text(orders, "#tried-refused", "403 ACCESS_REFUSED - access to exchange 'orders'")
    orders.click("#publish")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "refused, 403 ACCESS_REFUSED")


def test_headers_are_tried_and_a_mandatory_message_without_a_route_comes_back(
    orders: Page, let_pass: Pass
) -> None:
    orders.select_option("#try-exchange", "docs")
    orders.click("#try summary")
    typed_row(orders, "#try", "", "pdf")
    wait_text(orders, "#try", "has no name")
    typed_row(orders, "#try", "format", "pdf")
    wait_text(orders, "#tried-words", "One queue gets a copy.")
    orders.select_option("#try .table-rows select", "integer")
    wait_text(orders, "#try", "must be a whole number")
    orders.click("#try .table-rows .remove")
    wait_text(orders, "#tried-words", "No binding matches")
    orders.click("#try .table-rows > .btn")
    typed_row(orders, "#try", "format", "txt")
    wait_text(orders, "#tried-words", "No binding matches")
    orders.check("#try-mandatory")
    orders.click("#publish")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "returned, it matches no binding")
    orders.fill("#try-priority", "256")
    orders.click("#publish")
    assert orders.evaluate("document.getElementById('try-priority').validity.rangeOverflow")


def test_orders_have_their_errors_at_the_field_and_the_servers_refusals_in_its_words(
    orders: Page, let_pass: Pass
) -> None:
    orders.click("[data-verb=declare_queue]")
    typed_row(orders, "#order", "x-max-length", "five")
    expect(orders.locator("#order .table-rows select")).to_have_value("integer")
    order(orders, "declare_queue")
    wait_text(orders, "#order", "must be a whole number")
    typed_row(orders, "#order", "x-max-length", "5")
    order(orders, "declare_queue", name="n" * 256)
    expect(orders.locator("#order [name=name]")).to_have_attribute("aria-invalid", "true")
    wait_text(orders, "#order", "must be text of at most 255 bytes")
    order(orders, "declare_queue", name="mine")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "Declare queue: done, mine")
    expect(part(orders, "queue:mine")).to_be_visible()
    typed_row(orders, "#order", "x-max-length", "6")
    order(orders, "declare_queue")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "406 PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'mine'")
    order(orders, "bind", source="orders", destination="mine", routing_key="by.hand")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "Bind: done")
    orders.select_option("#try-exchange", "orders")
    orders.fill("#try-key", "by.hand")
    wait_text(orders, "#tried-words", "One queue gets a copy.")
    orders.click("#publish")
    order(orders, "get", name="mine")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "with the key “by.hand”")
    order(orders, "purge", name="mine")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "Purge queue: done, 1 message")
    order(orders, "delete_queue", name="mine")
    let_pass(orders, 2)
    expect(part(orders, "queue:mine")).to_have_count(0)


def test_a_drag_from_an_exchange_to_a_queue_opens_the_binding(orders: Page, let_pass: Pass) -> None:
    start, end = part(orders, "exchange:dead").bounding_box(), part(orders, "queue:pdf").bounding_box()
    assert start and end
    orders.mouse.move(start["x"] + 20, start["y"] + 17)
    orders.mouse.down()
    orders.mouse.move(start["x"] + 60, start["y"] + 10, steps=3)
    orders.mouse.move(end["x"] + 30, end["y"] + 15, steps=5)
    expect(orders.locator("#graph .drag")).to_have_count(1)
    orders.mouse.up()
    expect(orders.locator("#graph .drag")).to_have_count(0)
    expect(orders.locator("#order [name=source]")).to_have_value("dead")
    expect(orders.locator("#order [name=destination]")).to_have_value("pdf")
    order(orders, "bind", routing_key="pages")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "Bind: done")
    wait_text(orders, "#graph", "pages")


def test_a_crashed_server_comes_back_with_what_is_durable_and_a_full_one_blocks(
    orders: Page, let_pass: Pass
) -> None:
    orders.click("#server [data-order=crash]")
    wait_text(orders, "h1", "The server is down")
    expect(orders.locator("#server button")).to_have_count(1)
    orders.click("#server [data-order=start]")
    let_pass(orders, 8)
    wait_text(orders, "#server-state", "It runs")
    expect(part(orders, "queue:created")).to_be_visible()
    ids = orders.locator("#graph > *").count()
    drawn = orders.locator("#graph .way.publish")
    assert drawn.count() == orders.locator("#graph [data-part^='publisher:']").count() and ids
    for resource, words in (("memory", "short of memory"), ("disk", "short of disk space")):
        orders.click(f"#server [data-order={resource}_on]")
        let_pass(orders, 3)
        wait_text(orders, "h1", words)
        orders.click(f"#server [data-order={resource}_off]")
        let_pass(orders, 1)
        wait_text(orders, "#server-state", "connections.")


def test_a_consumer_changes_how_it_acknowledges_and_settles_what_it_holds(
    orders: Page, let_pass: Pass
) -> None:
    orders.click("#consumers tr[data-key=c3] button")
    orders.fill("#consume-prefetch", "4")
    orders.select_option("#consume-ack", "never")
    orders.click("#consume .btn")
    let_pass(orders, 10)
    wait_text(orders, "#queues tr[data-key=created]", "unacked by c3")
    expect(orders.locator("#consumers tr[data-key=c3] td").nth(4)).to_have_text("4")
    orders.keyboard.press("Escape")
    # It takes as many more at once: what the cell said in between is enough.
    orders.evaluate(
        """() => {
          const cell = () => document.querySelector("#queues tr[data-key=created]").cells[5].textContent, before = cell();
          new MutationObserver(() => { window.hasSettled ||= cell() !== before; })
            .observe(document.getElementById("queues"), { subtree: true, childList: true, characterData: true });
        }"""
    )
    orders.keyboard.press("k")
    let_pass(orders, 4)
    orders.wait_for_function("() => window.hasSettled")


def test_a_headers_binding_is_made_with_its_x_match_and_tried(orders: Page, let_pass: Pass) -> None:
    orders.click("[data-verb=bind]")
    orders.select_option('#order [data-field="args.arguments.x-match"]', "any-with-x")
    typed_row(orders, "#order", "x-kind", "a")
    orders.click("#order .table-rows > .btn")
    orders.fill("#order .table-rows li:nth-child(2) .name", "x-kind")
    order(orders, "bind", source="docs", destination="parked")
    wait_text(orders, "#order", "is there already")
    orders.fill("#order .table-rows li:nth-child(2) .name", "format")
    orders.fill("#order .table-rows li:nth-child(2) .value", "txt")
    order(orders, "bind")
    let_pass(orders, 2)
    wait_text(orders, ANSWER, "Bind: done")
    wait_text(orders, "#graph", "x-match=any-with-x")
    orders.select_option("#try-exchange", "docs")
    orders.click("#try summary")
    typed_row(orders, "#try", "x-kind", "a")
    wait_text(orders, "#tried-words", "One queue gets a copy.")


def test_permissions_are_read_asked_and_changed(orders: Page, let_pass: Pass) -> None:
    orders.select_option("#user", "till")
    wait_text(orders, "#may", "till may configure nothing, write tasks|audit, read nothing.")
    orders.fill("#allowed-queue", "mine")
    wait_text(orders, "#allowed-answer", "Refused: 403 ACCESS_REFUSED - access to queue 'mine'")
    orders.click("#edit-permissions")
    expect(orders.locator("#order [name=write]")).to_have_value("tasks|audit")
    order(orders, "permissions", configure="^mine$")
    let_pass(orders, 1)
    wait_text(orders, "#may", "till may configure ^mine$")
    wait_text(orders, "#allowed-answer", "Allowed.")


def test_a_permissions_form_begins_with_what_is_there_and_says_that_it_is_done(
    orders: Page, let_pass: Pass
) -> None:
    orders.select_option("#user", "feed")
    orders.click("#orders [data-verb=permissions]")
    expect(orders.locator("#order [name=user]")).to_have_value("feed")
    expect(orders.locator("#order [name=write]")).to_have_value(".*")
    orders.select_option("#order [name=user]", "till")
    expect(orders.locator("#order [name=write]")).to_have_value("tasks|audit")
    expect(orders.locator("#order [name=configure]")).to_have_value("")
    order(orders, "permissions", configure="^mine$")
    let_pass(orders, 1)
    wait_text(orders, ANSWER, "Set permissions: done")
    orders.click("#try summary")
    orders.fill("#try-body", "b" * 5000)
    orders.fill("#try-key", "orders.eu.paid")
    orders.click("#publish")
    wait_text(orders, "#try", "must be text of at most")


def test_topic_permissions_are_set_said_asked_and_taken_away(orders: Page, let_pass: Pass) -> None:
    orders.select_option("#user", "feed")
    orders.select_option("#try-exchange", "orders")
    orders.click("#edit-topics")
    expect(orders.locator("#order [name=exchange]")).to_have_value("orders")
    order(orders, "topic_permissions", write="(")
    wait_text(orders, "#order", "is not a regular expression")
    order(orders, "topic_permissions", write="^orders[.]eu", read="")
    let_pass(orders, 1)
    wait_text(orders, "#may", "Of orders, feed may write keys ^orders[.]eu and read keys nothing.")
    orders.select_option("#allowed-operation", "basic.publish")
    orders.fill("#allowed-exchange", "orders")
    orders.fill("#allowed-key", "orders.us.created")
    wait_text(orders, "#allowed-answer", "Refused: 403 ACCESS_REFUSED - access to topic 'orders.us.created'")
    orders.fill("#allowed-key", "orders.eu.created")
    wait_text(orders, "#allowed-answer", "Allowed.")
    orders.check("#order [name=is_cleared]")
    orders.click("#order .strong")
    let_pass(orders, 1)
    orders.wait_for_function("() => !document.getElementById('may').textContent.includes('Of orders')")


def test_a_connections_methods_are_traced_field_by_field_and_forgotten(orders: Page, let_pass: Pass) -> None:
    wait_text(orders, "#trace-about", "Nothing is traced.")
    number = orders.locator("#trace-connection option", has_text="c3").get_attribute("value")
    orders.select_option("#trace-connection", number)
    orders.click("#trace-go")
    let_pass(orders, 3)
    wait_text(orders, "#trace-about", "of c3 so far; it ends in")
    wait_text(orders, "#traced", "basic.deliver")
    wait_text(orders, "#traced", "properties.delivery_mode=2")
    wait_text(orders, "#traced", "basic.ack")
    orders.click("#trace-stop")
    wait_text(orders, "#trace-about", "Nothing is traced.")
    expect(orders.locator("#traced tbody tr")).to_have_count(0)


def test_definitions_go_out_and_draw_their_graph_again(
    profile: Profile, site: SupervisedSite, let_pass: Pass, tmp_path: Path
) -> None:
    page = open_page(profile(), site)
    with page.expect_download() as download:
        page.click("a[download]")
    file = tmp_path / "definitions.json"
    download.value.save_as(file)
    assert {queue["name"] for queue in json.loads(file.read_text())["queues"]} >= {"created", "eu_orders"}
    other = open_page(profile(), site, None)
    other.click("[data-verb=import]")
    other.fill("#order [name=definitions]", '{"queues": [{"vhost": "/"}]}')
    other.click("#order .strong")
    wait_text(other, "#order", "is missing")
    other.set_input_files("#order input[type=file]", str(file))
    other.wait_for_function(
        "() => document.querySelector('#order [name=definitions]').value.includes('eu_orders')"
    )
    other.click("#order .strong")
    let_pass(other, 2)
    other.wait_for_selector("#vhost option[value=shop]", state="attached")
    other.select_option("#vhost", "shop")
    for name in ("exchange:orders", "queue:eu_orders", "queue:parked"):
        expect(part(other, name)).to_be_visible()


@pytest.mark.parametrize("topology", [ORDERS, None])
def test_nothing_scrolls_sideways_and_the_keyboard_reaches_everything(
    profile: Profile, site: SupervisedSite, topology: dict[str, Any] | None
) -> None:
    page = open_page(profile(), site, topology)
    page.fill("#try-key", "a.key.of.many.words.that.is.wide.on.a.phone")
    page.wait_for_selector("#tried tbody tr")
    page.evaluate("document.activeElement.blur()")
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        wait_frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.keyboard.press("t")
        expect(page.locator("#twins")).to_have_attribute("aria-pressed", "true")
        assert faults_of(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#graph-twin tbody tr").count() >= 3
        save(page, f"rabbitmq-{'orders' if topology else 'work'}-{width}")
        page.keyboard.press("t")
        expect(page.locator("#twins")).to_have_attribute("aria-pressed", "false")


def test_it_changes_language_in_place_and_has_a_way_from_the_stage_and_back(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(profile(), site, None)
    page.click("#language")
    wait_text(page, "#consumers-title", "消费者")
    wait_text(page, "#orders", "声明队列")
    page.click("#to-stage")
    page.click("#to-rabbitmq")
    wait_frame(page)
    expect(part(page, "queue:records")).to_be_visible()


def test_a_queues_course_is_drawn_and_another_is_chosen(orders: Page, let_pass: Pass) -> None:
    let_pass(orders, 5)
    orders.locator("#series").scroll_into_view_if_needed()
    orders.wait_for_selector("#series .scatterlayer .trace")
    orders.click("#queues tr[data-key=parked] button")
    wait_text(orders, "#series-of", "parked")
    expect(orders.locator("#queues tr[data-key=parked] button")).to_have_attribute("aria-pressed", "true")
    assert re.search(r"parked", part(orders, "queue:parked").get_attribute("aria-label") or "")


def test_a_messages_way_is_lit_in_the_graph_and_told_step_by_step(orders: Page, let_pass: Pass) -> None:
    let_pass(orders, 6)
    orders.click("#path .btn")
    wait_text(orders, "#path-about", "The way of message")
    line = orders.locator('#graph .press[data-way="dead_letter:eu_orders"]')
    line.dispatch_event("click")
    wait_text(orders, "#path-steps", "eu_orders drops it (rejected): a dead letter to dead, and on to parked")
    wait_text(orders, "#path-steps", "binding orders → eu_orders: “*.eu.#”, where * is “orders”, # is “paid”")
    wait_text(orders, "#path-steps", "binding dead → parked: the key is “eu”")
    for part_ in (
        "exchange:orders",
        "queue:eu_orders",
        "dead_letter:eu_orders",
        "exchange:dead",
        "queue:parked",
    ):
        expect(orders.locator(f'#graph [data-lit="{part_}"]')).to_have_count(1)
    whole = orders.locator("#graph .lit").count()
    orders.locator("#path-steps .step").first.focus()
    orders.keyboard.press("Enter")
    expect(orders.locator("#path-steps .step").first).to_have_attribute("aria-pressed", "true")
    orders.wait_for_function("all => document.querySelectorAll('#graph .lit').length < all", arg=whole)
    orders.locator("#path-steps .step").first.evaluate("step => step.blur()")
    orders.keyboard.press("Escape")
    expect(orders.locator("#graph .lit")).to_have_count(0)
    expect(orders.locator("#path-steps li")).to_have_count(0)
    part(orders, "queue:pdf").click()
    orders.wait_for_function("() => document.querySelectorAll('#path-pick option').length > 2")
    orders.select_option("#path-pick", index=1)  # the newest, which the server's view may not have yet
    wait_text(orders, "#path-steps", "binding docs → pdf: x-match all: format=pdf")
    orders.fill("#path-number", "none")
    orders.click("#path .btn")
    wait_text(orders, "#path", "must be the number of a message")


def test_messages_move_as_dots_except_for_who_wants_no_motion(profile: Profile, site: SupervisedSite) -> None:
    page = open_page(profile(), site)
    page.wait_for_selector("#graph .dot.publish", state="attached")
    for kind in ("binding", "deliver", "ack"):
        page.wait_for_selector(f"#graph .dot.{kind}", state="attached")
    page.keyboard.press(" ")
    page.wait_for_function("() => !document.querySelector('#graph .dot')")
    still = open_page(profile(reduced_motion="reduce"), site)
    for _ in range(3):
        wait_frame(still)
        assert still.locator("#graph .dot").count() == 0
