"""Stories of what is asked of a copy of the lab: Predict, who has a key, and a record's way."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import save, wait_text

WORKED_OUT_MS = 40_000  # a copy of the lab runs in a worker that may just have been started

LANES = ("pulsar", "kafka", "tubemq", "rabbitmq")


def test_a_prediction_is_asked_answered_and_then_made(page: Page) -> None:
    page.keyboard.press("q")
    expect(page.locator("#predict-dialog")).to_be_visible()
    page.select_option("#predict-form [name=lane]", "kafka")
    page.click("#predict-form .go")
    question = page.locator("#predict-question")
    expect(question).to_contain_text("A consumer joins. How many of the 12 partitions", timeout=WORKED_OUT_MS)
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
    expect(question).to_contain_text(
        "For how long will a partition of Kafka have no reader", timeout=WORKED_OUT_MS
    )
    page.keyboard.press("4")
    page.click("#predict-make")
    expect(page.locator("#predict-dialog")).to_be_hidden()
    page.wait_for_selector('#kafka [data-consumer="c4"]')
    assert page.locator('#pulsar [data-consumer="c4"]').count() == 0  # asked about Kafka, made in Kafka


def test_nothing_happens_before_the_change_is_made(page: Page) -> None:
    page.click("#predict")
    page.select_option("#predict-form [name=change]", "crash c2")
    page.click("#predict-form .go")
    expect(page.locator("#predict-answers button")).to_have_count(4, timeout=WORKED_OUT_MS)
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    expect(page.locator("#predict-dialog")).to_be_hidden()
    assert page.get_attribute('#pulsar [data-consumer="c2"]', "data-state") == "live"


def test_a_key_typed_in_one_lane_is_asked_about_in_all(page: Page) -> None:
    page.click("#kafka [data-rest] summary")
    page.fill("#kafka [data-who] input", "N342NW")
    told = page.locator("#kafka [data-told]")
    expect(told).to_contain_text("now c2, partition 7", timeout=WORKED_OUT_MS)
    page.select_option("#kafka [data-who] select", "leave c2")
    expect(told).to_contain_text("then c", timeout=WORKED_OUT_MS)
    page.click("#rabbitmq [data-rest] summary")
    wait_text(page, "#rabbitmq [data-told]", "No consumer has a key")
    assert page.input_value("#rabbitmq [data-who] input") == "N342NW"
    page.fill("#rabbitmq [data-who] input", "")
    for lane in LANES:
        expect(page.locator(f"#{lane} [data-told]")).to_have_text("")


def test_a_record_is_followed_through_all_lanes(page: Page) -> None:
    page.keyboard.press("f")
    lanes = page.locator("#passport-lanes dd")
    expect(lanes).to_have_count(4, timeout=WORKED_OUT_MS)
    page.fill("#passport-form [name=record]", "720")
    page.keyboard.press("Enter")
    expect(page.locator("#passport-line")).to_contain_text(
        "Record 720 with key N14242", timeout=WORKED_OUT_MS
    )
    for text in lanes.all_text_contents():
        assert "received by c" in text and "done by c" in text
    assert page.locator("#way .done").count() == 4
    page.fill("#passport-form [name=record]", "99999999")
    page.keyboard.press("Enter")
    expect(page.locator("#passport-error")).to_contain_text("has not been sent yet", timeout=WORKED_OUT_MS)
    expect(page.locator("#passport-told")).to_be_hidden()


def test_the_newest_record_of_a_key_is_followed_from_the_lane(page: Page) -> None:
    page.click("#kafka [data-rest] summary")
    page.fill("#kafka [data-who] input", "N14242")
    page.click("#kafka [data-follow]", timeout=WORKED_OUT_MS)
    expect(page.locator("#passport-line")).to_contain_text("with key N14242", timeout=WORKED_OUT_MS)


PLACE = """(id) => ({ top: document.getElementById(id).getBoundingClientRect().top, scrolled: scrollY })"""


def asked(page: Page, lane: str, change: str) -> None:
    page.keyboard.press("q")
    page.select_option("#predict-form [name=lane]", lane)
    page.select_option("#predict-form [name=change]", change)
    page.click("#predict-form .go")
    expect(page.locator("#predict-mark")).to_be_visible(timeout=WORKED_OUT_MS)
    stood = page.evaluate(PLACE, lane)
    page.click("#predict-mark")
    expect(page.locator("#marking-form")).to_be_visible()
    assert page.evaluate(PLACE, lane) == stood, "the page does not move"
    question = page.evaluate("document.querySelector('#marking-form').getBoundingClientRect().bottom")
    assert question <= stood["top"] + 1, "the question hides nothing of the lanes"


def test_on_a_phone_the_question_hides_no_more_than_the_story(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("q")
    page.select_option("#predict-form [name=lane]", "kafka")
    page.click("#predict-form .go")
    page.click("#predict-mark", timeout=WORKED_OUT_MS)
    expect(page.locator("#marking-form")).to_be_visible()
    form, tabs = (page.locator(each).first.bounding_box() for each in ("#marking-form", "[data-tab]"))
    assert form and tabs and form["y"] + form["height"] <= tabs["y"]
    high = "() => { const it = document.querySelector('#marking-form'); return it.scrollHeight - it.clientHeight; }"
    assert page.evaluate(high) <= 0
    save(page, "marking-390")


def test_partitions_are_marked_on_the_picture_and_judged(page: Page) -> None:
    asked(page, "kafka", "leave c2")
    expect(page.locator("#marking-ask")).to_contain_text("Which of the 12 partitions")
    page.wait_for_function("() => document.body.hasAttribute('data-past')")
    drawn = page.locator("#kafka [data-picture] rect[rx='2'][fill*='--id-']")
    boxes = [drawn.nth(at).bounding_box() for at in range(drawn.count())]
    cell = max((box for box in boxes if box), key=lambda box: box["width"])  # the swatches are smaller
    page.mouse.click(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    expect(page.locator("#marking-told")).to_have_text("1 marked.")
    expect(page.locator(".marks rect.marked")).to_have_count(1)
    assert page.locator(".why-panel:visible, #why:visible").count() == 0, "a mark is no question"
    page.fill("#marking-names", "3 4 5 99")
    expect(page.locator("#marking-told")).to_have_text("3 marked.")
    save(page, "marking")
    page.keyboard.press("Enter")
    told = page.text_content("#marking-told") or ""
    right, missed, wrong, whole = (int(number) for number in re.findall(r"\d+", told))
    assert right + wrong == 3 and right + missed == whole
    expect(page.locator(".marks rect")).to_have_count(right + missed + wrong)
    save(page, "marking-told")
    page.click("#marking-end")
    expect(page.locator("#marking-form")).to_be_hidden()
    expect(page.locator(".marks rect")).to_have_count(0)


def test_slices_and_messages_are_marked_too(page: Page) -> None:
    asked(page, "pulsar", "leave c2")
    expect(page.locator("#marking-ask")).to_contain_text("Which slices")
    picture = page.locator("#pulsar [data-picture]").bounding_box()
    assert picture is not None
    page.mouse.click(
        picture["x"] + picture["width"] / 2 + picture["height"] * 0.38, picture["y"] + picture["height"] / 2
    )
    expect(page.locator("#marking-told")).to_have_text("1 marked.")
    page.click("#marking-show")
    expect(page.locator("#marking-told")).to_contain_text("will move")
    page.click("#marking-end")
    asked(page, "rabbitmq", "leave c2")
    expect(page.locator("#marking-ask")).to_contain_text("will come again")
    page.click("#language")
    expect(page.locator("#marking-ask")).to_contain_text("重新投递")
    page.click("#marking-show")
    assert page.locator(".marks rect.missed").count() == int(
        re.findall(r"\d+", page.text_content("#marking-told") or "")[0]
    )
