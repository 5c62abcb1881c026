"""Stories of what is asked before a change is made: Predict, and who has a key."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import wait_text

LANES = ("pulsar", "kafka", "tubemq", "rabbitmq")


def test_a_prediction_is_asked_answered_and_then_made(page: Page) -> None:
    page.keyboard.press("q")
    expect(page.locator("#predict-dialog")).to_be_visible()
    page.select_option("#predict-form [name=lane]", "kafka")
    page.click("#predict-form .go")
    question = page.locator("#predict-question")
    expect(question).to_contain_text("A consumer joins. How many of the 12 partitions")
    answers = page.locator("#predict-answers button")
    expect(answers).to_have_count(4)
    expect(page.locator("#predict-acts")).to_be_hidden()
    page.keyboard.press("1")
    expect(page.locator("#predict-truth .verdict")).to_contain_text("of 12 partitions")
    expect(page.locator("#predict-answers [data-true]")).to_have_count(1)
    said = page.locator("#predict-answers [data-true]").text_content() or ""
    assert f"{said} of 12 partitions" in (page.text_content("#predict-truth .verdict") or "")
    expect(page.locator("#predict-answers button:enabled")).to_have_count(0)
    page.click("#predict-again")
    expect(question).to_contain_text("For how long will a partition of Kafka have no reader")
    page.keyboard.press("4")
    page.click("#predict-make")
    expect(page.locator("#predict-dialog")).to_be_hidden()
    page.wait_for_selector('#kafka [data-consumer="c4"]')
    assert page.locator('#pulsar [data-consumer="c4"]').count() == 0  # asked about Kafka, made in Kafka


def test_nothing_happens_before_the_change_is_made(page: Page) -> None:
    page.click("#predict")
    page.select_option("#predict-form [name=change]", "crash c2")
    page.click("#predict-form .go")
    expect(page.locator("#predict-answers button")).to_have_count(4)
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    expect(page.locator("#predict-dialog")).to_be_hidden()
    assert page.get_attribute('#pulsar [data-consumer="c2"]', "data-state") == "live"


def test_a_key_typed_in_one_lane_is_asked_about_in_all(page: Page) -> None:
    page.click("#kafka [data-rest] summary")
    page.fill("#kafka [data-who] input", "N342NW")
    told = page.locator("#kafka [data-told]")
    expect(told).to_contain_text("now c2, partition 7")
    page.select_option("#kafka [data-who] select", "leave c2")
    expect(told).to_contain_text("then c")
    page.click("#rabbitmq [data-rest] summary")
    wait_text(page, "#rabbitmq [data-told]", "No consumer has a key")
    assert page.input_value("#rabbitmq [data-who] input") == "N342NW"
    page.fill("#rabbitmq [data-who] input", "")
    for lane in LANES:
        expect(page.locator(f"#{lane} [data-told]")).to_have_text("")
