"""Every term that a page marks has its definition in the glossary, and the definition travels with that
page."""

import re
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from dashboard.logs.presentation import SETTINGS
from dashboard.page import base_context
from dashboard.sentences import LANGUAGES, catalogue
from dashboard.sentences.glossary import TERMS, TERMS_OF

ROOT = Path(__file__).resolve().parents[2]
MARKED = re.compile(r"""data-term"?[:=]\s*"([a-z_]+)"|\{% term "([a-z_]+)\"""")


def marked(*folders: str) -> set[str]:
    files = [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.*"))
        if path.suffix in (".html", ".js")
    ]
    return {
        found
        for path in files
        for pair in MARKED.findall(path.read_text(encoding="utf-8"))
        for found in pair
        if found
    }


@pytest.mark.parametrize(
    ("item", "folders"),
    [
        ("stage", ["templates/dashboard/partials", "static/js/stage/visuals", "static/js/lane/pictures"]),
        ("log", ["static/js/log"]),
        ("groups", ["static/js/groups"]),
        ("analyze", ["templates/dashboard/analyze", "static/js/analyze"]),
    ],
)
def test_a_marked_term_is_defined_on_its_page(item: str, folders: list[str]) -> None:
    found = marked(*folders)
    assert found and found <= set(TERMS_OF[item])


def test_each_setting_of_the_log_page_names_a_term_of_that_page() -> None:
    named = {term for _name, _unit, _about, term in SETTINGS}
    assert named and named <= set(TERMS_OF["log"])


@pytest.mark.parametrize(
    ("item", "folder"),
    [("log", "static/js/log"), ("groups", "static/js/groups"), ("analyze", "static/js/analyze")],
)
def test_the_heads_of_tables_name_terms_of_their_page(item: str, folder: str) -> None:
    scripts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.js"))]
    lists = [found for script in scripts for found in re.findall(r"terms: \[([^\]]*)\]", script)]
    named = set(re.findall(r'"([a-z_]+)"', " ".join(lists)))
    assert named and named <= set(TERMS_OF[item])


def test_the_comparison_explains_the_four_figures_of_its_head() -> None:
    text = (ROOT / "templates/dashboard/analyze/compare.html").read_text(encoding="utf-8")
    assert {
        term: text.count(f'{{% term "{term}"') for term in ("skew", "churn", "pause", "order_risk")
    } == dict.fromkeys(("skew", "churn", "pause", "order_risk"), 2)


def test_each_definition_is_used_by_a_page_and_each_use_has_one() -> None:
    assert {term for terms in TERMS_OF.values() for term in terms} == set(TERMS)


@pytest.mark.parametrize("item", TERMS_OF)
def test_the_page_ends_with_the_definitions_that_its_terms_point_to(item: str, rf: RequestFactory) -> None:
    text = render_to_string("dashboard/partials/glossary.html", base_context(rf.get("/"), item))
    for term in TERMS_OF[item]:
        assert (
            f'<dd id="term-{term}" data-say="term.{term}">' in text and f'data-say="term.{term}.name"' in text
        )


def test_a_definition_is_a_short_text_in_both_languages() -> None:
    for language in LANGUAGES:
        words = catalogue()[language]
        assert all(20 <= len(words[f"term.{term}"]) * (3 if language != "en" else 1) <= 240 for term in TERMS)
