"""A run that one takes away from a panel's menu, and opens on Labs as another person."""

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

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
