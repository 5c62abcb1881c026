"""A lab that real clients come to, from the switch on: pika publishes and consumes at the address that the page shows, the page
has both by name and drops one; and the journal alone comes to the same state."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pika
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from broker_core.lab.lab import Lab
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs.past.answering import state_hash
from tests.browser.conftest import open_stage, save, wait_frame
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

LISTENS_MS = 60_000
Profile = Callable[..., BrowserContext]


def connected(url: str, name: str) -> pika.BlockingConnection:
    parameters = pika.URLParameters(url)
    parameters.client_properties = {"connection_name": name}
    return pika.BlockingConnection(parameters)


def opened(context: BrowserContext, site: SupervisedSite) -> Page:
    """From a lab with programs of its own to one for real clients."""
    page = open_stage(context, site)
    page.click("#to-rabbitmq")
    wait_frame(page)
    expect(page.locator("#clients-state")).to_contain_text("Programs of your own")
    page.click("#clients-switch")
    expect(page.locator("#clients-address")).to_contain_text("amqp://", timeout=LISTENS_MS)
    return page


class Consuming:
    """A program that takes and acknowledges what comes, until its connection ends."""

    def __init__(self, url: str) -> None:
        self.taken: list[bytes] = []
        self.ended = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(url,), daemon=True)
        self._thread.start()

    def _run(self, url: str) -> None:
        try:
            with connected(url, "shipping-worker-1") as connection:
                channel = connection.channel()
                channel.basic_qos(prefetch_count=3)
                for method, _, body in channel.consume("orders", inactivity_timeout=0.2):
                    if self._over.is_set():
                        return
                    if method is not None:
                        self.taken.append(body)
                        channel.basic_ack(method.delivery_tag)
        except pika.exceptions.AMQPError:
            self.ended.set()

    def end(self) -> None:
        self._over.set()
        self._thread.join(30)


@contextmanager
def consuming(url: str) -> Iterator[Consuming]:
    program = Consuming(url)
    try:
        yield program
    finally:
        program.end()


def test_pika_is_a_client_by_its_name_and_the_journal_comes_to_the_same(
    profile: Profile, site: SupervisedSite
) -> None:
    page = opened(profile(), site)
    url = page.inner_text("#clients-address")
    page.click("#clients-program summary")
    expect(page.locator("#clients-run")).to_have_text(f"python orders.py {url}")
    with connected(url, "billing-service") as publisher:
        channel = publisher.channel()
        channel.queue_declare("orders", durable=True)
        channel.queue_declare("invoices")
        channel.confirm_delivery()
        with consuming(url) as program:
            for number in range(12):
                channel.basic_publish("", "orders", b"order %d" % number)
            channel.basic_publish("", "invoices", b"invoice")
            clients = page.locator("#clients-list")
            expect(clients).to_contain_text("billing-service")
            expect(clients).to_contain_text("shipping-worker-1")
            expect(page.locator("#consumers")).to_contain_text("shipping-worker-1")
            expect(page.locator("#clients-state")).to_contain_text("2 clients")
            save(page, "clients-rabbitmq")
            page.click("#to-stage")
            wait_frame(page)
            picture = page.locator("[data-picture=rabbitmq]")
            for name in ("orders", "invoices", "shipping-worker-1"):
                expect(picture).to_contain_text(name)
            expect(page.locator(".row[data-consumer=shipping-worker-1]")).to_contain_text("real")
            save(page, "clients-stage")
            page.go_back()
            wait_frame(page)
            assert not program.ended.is_set()
            page.locator("#clients-list li", has_text="shipping-worker-1").locator("[data-does=drop]").click()
            assert program.ended.wait(30)
            expect(clients).not_to_contain_text("shipping-worker-1")
        assert program.taken[:1] == [b"order 0"] and len(program.taken) == 12
    page.click("#play")
    expect(page.locator("#clients-state")).to_contain_text("paused")
    same_by_its_journal(page, site)


def same_by_its_journal(page: Page, site: SupervisedSite) -> None:
    """The state that the site shows of the lab's past is that of its journal, gone through here."""
    lab = page.get_attribute("#main", "data-lab")
    run = page.request.get(f"{site.url}api/labs/{lab}/run.json").json()
    core = Lab(scenario_from_json(run["scenario"]))
    Replay(core, run["commands"], run["at_us"]).finish()
    last = {"at_us": run["at_us"], "position": run["commands"][-1]["position"]}
    past = page.request.get(f"{site.url}api/labs/{lab}/past/", params=last).json()
    kinds = [command["kind"] for command in run["commands"]]
    assert kinds.count("rabbitmq_socket") > 10 and past["position"] == core.position
    assert past["state_hash"] == state_hash(core.view(), core.position)


def test_address_programs_and_switch_in_chinese_on_a_phone_in_the_dark(
    profile: Profile, site: SupervisedSite
) -> None:
    page = opened(profile(viewport={"width": 390, "height": 844}, color_scheme="dark"), site)
    page.click("#language")
    expect(page.locator("#clients-title")).to_have_text("真实客户端")
    page.click("#clients-program summary")
    page.click("[data-library=Celery]")
    expect(page.locator("#clients-run")).to_contain_text("export AMQP_URL=amqp://")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    save(page, "clients-phone-zh")
    page.click("#clients-switch")
    expect(page.locator("#clients-address")).to_be_hidden()
    expect(page.locator("#clients-switch")).to_have_attribute("data-act", "rabbitmq_open")


@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_closed_lab_says_that_it_is(profile: Profile, site: SupervisedSite, width: int) -> None:
    page = opened(profile(viewport={"width": width, "height": 720}), site)
    page.click("#clients-switch")
    expect(page.locator("#clients-state")).to_contain_text("Closed.")
    page.click("#clients-switch")
    expect(page.locator("#clients-address")).to_contain_text("amqp://", timeout=LISTENS_MS)
    save(page, f"clients-{width}")


def test_page_with_clients_has_no_finding_for_who_reads_it_otherwise(
    profile: Profile, site: SupervisedSite
) -> None:
    page = opened(profile(reduced_motion="reduce"), site)
    with connected(page.inner_text("#clients-address"), "billing-service"):
        expect(page.locator("#clients-list")).to_contain_text("billing-service")
        page.click("#clients-program summary")
        page.evaluate(AXE)
        assert page.evaluate(FINDINGS) == []
        page.click("#to-stage")
        wait_frame(page)
        page.evaluate(AXE)
        assert page.evaluate(FINDINGS) == []
