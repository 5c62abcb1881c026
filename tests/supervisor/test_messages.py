"""Catalogues compile without GNU gettext, to what Python's own gettext reads."""

import gettext
import io

import pytest

from mqsite.messages import compile_messages, read_po, to_mo

CATALOGUE = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

#: a/place.py
msgid "Add consumer"
msgstr "添加消费者"

msgctxt "verb"
msgid "slow"
msgstr "减速"
msgid "with \\"quotes\\" and\\n"
"two lines"
msgstr "带\\"引号\\"和\\n"
"两行"

msgid "%(count)d key"
msgid_plural "%(count)d keys"
msgstr[0] "%(count)d 个键"

#, fuzzy
msgid "guessed"
msgstr "猜的"

msgid "not yet"
msgstr ""
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    path.write_text(CATALOGUE, encoding="utf-8")
    return path


def test_python_s_gettext_reads_what_was_compiled(source):
    catalogue = gettext.GNUTranslations(io.BytesIO(to_mo(read_po(source))))
    assert catalogue.gettext("Add consumer") == "添加消费者"
    assert catalogue.pgettext("verb", "slow") == "减速"
    assert catalogue.gettext('with "quotes" and\ntwo lines') == '带"引号"和\n两行'
    assert catalogue.ngettext("%(count)d key", "%(count)d keys", 5) == "%(count)d 个键"


def test_guesses_and_gaps_stay_in_english(source):
    catalogue = gettext.GNUTranslations(io.BytesIO(to_mo(read_po(source))))
    assert [catalogue.gettext(text) for text in ("guessed", "not yet")] == ["guessed", "not yet"]


def test_only_what_is_newer_is_compiled(source, tmp_path):
    assert compile_messages(tmp_path) == [source.with_suffix(".mo")]
    assert compile_messages(tmp_path) == []


def test_a_broken_catalogue_is_named_with_its_line(source):
    source.write_text('msgid "a"\nmsgstr broken\n')
    with pytest.raises(ValueError, match=r"django\.po:2"):
        read_po(source)
