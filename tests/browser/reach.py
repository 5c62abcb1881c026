"""What every page keeps with its tables open: whatever scrolls is reached by the keyboard, and whatever the
keyboard reaches has a name."""

from playwright.sync_api import Page

FAULTS = """() => {
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('[aria-hidden=true], .js-plotly-plot');
  const natural = 'a[href], button, input, select, textarea, summary', inside = `${natural}, [tabindex]:not([tabindex="-1"])`;
  const nameOf = (e) => e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') ?? '').split(' ').filter(Boolean)
    .map((id) => document.getElementById(id)?.textContent.trim()).join(' ').trim();
  const said = (e) => e.outerHTML.slice(0, 120), faults = [], landmarks = new Map();
  for (const e of document.querySelectorAll('main *')) {
    if (!shown(e)) continue;
    const { overflowX, overflowY } = getComputedStyle(e);
    const scrolls = (/auto|scroll/.test(overflowX) && e.scrollWidth > e.clientWidth + 1)
      || (/auto|scroll/.test(overflowY) && e.scrollHeight > e.clientHeight + 1);
    const isReached = e.tabIndex >= 0 || [...e.querySelectorAll(inside)].some((part) => part.tabIndex >= 0 && shown(part));
    if (scrolls && !e.matches('input, textarea, select') && !isReached) faults.push(`cannot be scrolled by keyboard: ${said(e)}`);
    const isNamed = e.matches('textarea') || (e.getAttribute('role') && nameOf(e));
    if (scrolls && e.tabIndex === 0 && !isNamed) faults.push(`scrolls without role and name: ${said(e)}`);
  }
  for (const e of document.querySelectorAll('section[aria-labelledby], section[aria-label], [role=region], nav, aside')) {
    if (!shown(e) || e.matches('section[role=group]')) continue;
    const name = `${e.getAttribute('role') ?? (e.matches('section') ? 'region' : e.localName)}: ${nameOf(e)}`;
    if (landmarks.has(name)) faults.push(`two landmarks of one name: ${name}: ${said(e)}`);
    landmarks.set(name, e);
  }
  for (const e of document.querySelectorAll('button, a[href], input, select, textarea')) {
    if (!shown(e) || e.type === 'hidden') continue;
    const isLabelled = [...(e.labels ?? [])].some((label) => label.textContent.trim());
    if (!(nameOf(e) || e.textContent.trim() || e.title || isLabelled)) faults.push(`has no name: ${said(e)}`);
  }
  if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length < 1) faults.push('one main, and a first heading');
  return faults;
}"""


def faults_of(page: Page) -> list[str]:
    """What of the open page breaks the rule. Folded parts are opened first."""
    page.evaluate("() => { for (const fold of document.querySelectorAll('details')) fold.open = true; }")
    page.wait_for_timeout(100)  # what is folded open is laid out
    return list(page.evaluate(FAULTS))
