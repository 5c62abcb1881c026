"""A run that one takes away from a panel's menu, and opens on Labs as another person."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pika
from playwright.sync_api import BrowserContext, Locator, Page, expect

import highwater
from tests.browser.conftest import post, save, wait_frame
from tests.browser.test_past import ANSWERS_MS, look_back
from tests.supervisor.site import SupervisedSite


def test_a_run_is_taken_from_a_menu_and_opened_by_another_person_at_the_same_state(
    profile: Callable[..., BrowserContext],
    site: SupervisedSite,
    let_pass: Callable[[Page, float], None],
    tmp_path: Path,
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    small = {"lanes": [{"model": "rabbitmq"}], "workload": {"kind": "uniform", "keys": 20, "rate": 5}}
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', small)['id']}/rabbitmq/")
    wait_frame(page)
    let_pass(page, 6)
    look_back(page, 0.6)
    expect(page.locator("#state-hash")).not_to_be_empty(timeout=ANSWERS_MS)
    clock, state = page.inner_text("#clock"), page.inner_text("#state-hash")
    page.locator(".take:visible").first.click()
    with page.expect_download() as given:
        page.get_by_role("menuitem", name="This run as a file that opens again").click()
    file = tmp_path / given.value.suggested_filename
    assert file.name.endswith(".highwater.json")
    given.value.save_as(file)

    other = profile().new_page()
    other.goto(f"{site.url}labs/")
    other.set_input_files("#file", file)
    save(other, "labs-open-run")
    other.click("#open-run")
    other.wait_for_url("**/lab/*/", wait_until="commit", timeout=ANSWERS_MS)
    other.wait_for_selector("#main[data-seq]", state="attached", timeout=ANSWERS_MS)
    expect(other.locator("#clock")).to_have_text(clock, timeout=ANSWERS_MS)
    expect(other.locator("#play")).to_have_attribute("data-say-label", "play")
    # The pause at the end is a change of its own: one step back there is the state that was taken.
    other.keyboard.press("PageUp")
    at_end = json.loads(file.read_text(encoding="utf-8"))
    answer = other.request.get(
        f"{site.url}api/labs/{other.get_attribute('#main', 'data-lab')}/past/",
        params={"at_us": at_end["at_us"], "position": at_end["commands"][-1]["position"]},
    )
    assert answer.json()["state_hash"].startswith(state) or state.startswith(answer.json()["state_hash"])


def connected(url: str, name: str) -> pika.BlockingConnection:
    parameters = pika.URLParameters(url)
    parameters.client_properties = {"connection_name": name}
    return pika.BlockingConnection(parameters)


def shop(file: Path) -> None:
    """A real program: one connection publishes, another consumes."""
    with (
        highwater.run(journal=file) as rabbitmq,
        connected(rabbitmq.url, "checkout") as publisher,
        connected(rabbitmq.url, "billing") as consumer,
    ):
        publishing, consuming = publisher.channel(), consumer.channel()
        publishing.queue_declare("orders")
        consuming.basic_qos(prefetch_count=2)
        for number in range(12):
            publishing.basic_publish("", "orders", b"order %d" % number)
        taken = consuming.consume("orders")
        for _ in range(12):
            method, _properties, _body = next(taken)
            time.sleep(0.05)
            consuming.basic_ack(method.delivery_tag)
        rabbitmq.wait_for_queue("orders", ready=0, unacked=0)


def step_back(page: Page, to: Locator, acts: int = 16) -> None:
    """Act by act, from the run's end to where its clients are at work."""
    expect(page.locator("#step-by")).to_have_value("change")
    for _ in range(acts):
        before = page.text_content("#position") or ""
        page.click("#step-back")
        expect(page.locator("#position")).not_to_have_text(before, timeout=ANSWERS_MS)
        if to.is_visible():
            return
    raise AssertionError("the clients are nowhere at work")


def test_a_run_of_a_real_program_is_a_lab_with_its_clients_by_name_and_their_methods(
    profile: Callable[..., BrowserContext], site: SupervisedSite, tmp_path: Path
) -> None:
    file = tmp_path / "shop.highwater"
    shop(file)
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    page.set_input_files("#file", file)
    page.click("#open-run")
    page.wait_for_url("**/lab/*/", wait_until="commit", timeout=ANSWERS_MS)
    page.wait_for_selector("#main[data-seq]", state="attached", timeout=ANSWERS_MS)
    expect(page.locator("#lab-name")).to_have_text("shop")
    expect(page.locator("#add")).to_be_hidden()
    row = page.locator(".row[data-consumer=billing]")
    step_back(page, row)
    expect(row).to_have_attribute("data-state", "real", timeout=ANSWERS_MS)
    expect(row.locator("[data-field=word]")).to_have_text("real")
    save(page, "run-of-clients-stage")
    page.click("#to-rabbitmq")
    page.wait_for_selector("#main[data-seq]", state="attached", timeout=ANSWERS_MS)
    expect(page.locator("#behind")).to_have_text(re.compile("before now"), timeout=ANSWERS_MS)
    expect(page.locator("#consumers")).to_contain_text("billing", timeout=ANSWERS_MS)
    expect(page.locator("[data-part='publisher:1']")).to_have_attribute(
        "aria-label", re.compile("checkout .*real")
    )
    save(page, "run-of-clients-rabbitmq")
    page.click("#language")
    save(page, "run-of-clients-rabbitmq-zh")


def test_what_is_wrong_with_a_file_is_said_beside_it(
    profile: Callable[..., BrowserContext], site: SupervisedSite, tmp_path: Path
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    page.click("#open-run")
    expect(page.locator("#open .bad")).to_have_text("Choose a file first.")
    other_rules = {"highwater_run": 1, "rules": 1}
    for name, text, reason in (
        ("picture.json", "not JSON", "must be JSON"),
        ("lab.json", "{}", "is not a run of Highwater"),
        ("old.json", json.dumps(other_rules), "was made under version 1 of the rules"),
        ("large.json", " " * 3_000_000, "is too large"),
    ):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        page.set_input_files("#file", file)
        expect(page.locator("#open .bad")).to_have_count(0)
        page.click("#open-run")
        expect(page.locator("#open .bad")).to_contain_text(reason)
        expect(page.locator("#file")).to_have_attribute("aria-invalid", "true")
    save(page, "labs-open-refused")
    page.click("#language")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        save(page, f"labs-open-{width}")
