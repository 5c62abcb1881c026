"""Words in templates by code. Each carries its code along, so that the browser can say it again in the other
language."""

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.formats import fill
from dashboard.presentation import paint as paint_of
from dashboard.sentences import SENTENCES

register = template.Library()
Words = Mapping[str, str]


@register.simple_tag
def say(code: str, /, **params: Any) -> SafeString:
    """The words of `code` in the page's language, in a span that names the code and what fills its places."""
    if not params:
        return format_html('<span data-say="{}">{}</span>', code, SENTENCES[code])
    text = fill(str(SENTENCES[code]), params, SENTENCES)
    return format_html('<span data-say="{}" data-params="{}">{}</span>', code, json.dumps(params), text)


@register.simple_tag
def said(message: Mapping[str, Any]) -> SafeString:
    """A message {code, params} in words."""
    return say(message["code"], **message["params"])


@register.simple_tag
def term(term_id: str, code: str) -> SafeString:
    """The words of `code` as a term of the glossary: its definition comes on hover, focus and touch."""
    return format_html(
        '<dfn class="term" tabindex="0" data-term="{0}" aria-describedby="term-{0}">{1}</dfn>',
        term_id,
        say(code),
    )


@register.filter
def prefixed(text: str, prefix: str) -> str:
    """Two texts as one: a code from its parts."""
    return f"{prefix}{text}"


@register.filter
def suffixed(text: str, suffix: str) -> str:
    """The same at the other end."""
    return f"{text}{suffix}"


@register.simple_tag
def words(code: str, /, **params: Any) -> str:
    """The bare words of `code`, for an attribute; the element names the code in data-say-label or
    data-say-title itself."""
    return fill(str(SENTENCES[code]), params, {})


@register.simple_tag(takes_context=True)
def both(context: template.Context, text: Mapping[str, str]) -> SafeString:
    """A lesson's own text {en, zh} in the page's language, in a span that the page changes in place."""
    shown = text["en" if context["page"]["language"] == "en" else "zh"]
    return format_html('<span data-en="{}" data-zh="{}">{}</span>', text["en"], text["zh"], shown)


@register.filter
def paint(color: int | None) -> str:
    """The fill of a consumer's colour."""
    return paint_of(color)
