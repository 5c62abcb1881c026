"""The Stage by keyboard and by screen reader: where the focus goes, what is said, what a row is called."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import wait_frame, wait_text
from tests.browser.test_stage import rows

# What of the focused element's ring an ancestor that scrolls or cuts would hide: its markup, null where the
# ring is whole.
CUT_OFF = """() => {
  const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
  const wide = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
  for (let parent = e.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(parent), edge = parent.getBoundingClientRect();
    if (overflowX !== 'visible' && (box.left - wide < edge.left - 0.5 || box.right + wide > edge.right + 0.5)) return e.outerHTML.slice(0, 120);
    if (overflowY !== 'visible' && (box.top - wide < edge.top - 0.5 || box.bottom + wide > edge.bottom + 0.5)) return e.outerHTML.slice(0, 120);
  }
  return null;
}"""


def test_the_focus_goes_to_a_neighbour_when_its_row_leaves(page: Page) -> None:
    page.focus('#pulsar [data-consumer="c2"] [data-verb=leave]')
    page.keyboard.press("Enter")
    page.wait_for_selector('#pulsar [data-consumer="c2"]', state="detached")
    expect(page.locator('#pulsar [data-consumer="c3"] [data-verb=leave]')).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_selector('#pulsar [data-consumer="c3"]', state="detached")
    expect(page.locator('#pulsar [data-consumer="c1"] [data-verb=leave]')).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_selector('#pulsar [data-consumer="c1"]', state="detached")
    expect(page.locator("#pulsar .list")).to_be_focused()


def test_no_focus_ring_is_cut_off(page: Page) -> None:
    page.click("#add-ten")
    wait_text(page, "h1", "10 consumers joined")
    for what in ("pictures", "tables"):
        wait_frame(page)
        assert len(rows(page, "pulsar")) == 13
        page.focus("#add")
        for _ in range(75):
            page.keyboard.press("Tab")
            assert page.evaluate(CUT_OFF) is None, what
        page.keyboard.press("t")
