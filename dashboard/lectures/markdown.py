"""The Markdown of a lecture: CommonMark with tables, without images, and with directives at its top level.

    ::: minutes 4            one line: what it says is in the line itself
    ::: notes                a block, as is a question without a lesson: up to a line that is ::: alone
    Say why.
    :::

No HTML of the author's reaches a page: the parser has no rule for it, so it stays text, which the renderer escapes; a
link leads to http(s), to a page of this site or to a place on the page.
"""

import re
from collections.abc import MutableMapping, Sequence
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

SIGN = ":::"
DIRECTIVE, OPEN = "lecture_directive", "is_open"
BLOCKS = ("notes", "question")
"""Directives that hold lines where nothing follows their name."""
NESTED_MAX = 20
_LINK = re.compile(r"https?://|/(?![/\\])|#", re.IGNORECASE)
_Env = MutableMapping[str, Any]


def tokens_of(text: str) -> list[Token]:
    """What the text consists of; a directive is one token: `info` what follows its sign, `content` its lines."""
    return _MARKDOWN.parse(text)


def html_of(tokens: Sequence[Token]) -> SafeString:
    """The HTML of tokens without directives."""
    # The parser passes no HTML through, and the renderer escapes every text.
    return mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def inline_html(text: str) -> SafeString:
    """The HTML of one line, without a paragraph around it."""
    return mark_safe(_MARKDOWN.renderInline(text))


def text_of(inline: Token) -> str:
    """What a heading says, without its marks."""
    return "".join(child.content for child in inline.children or ()).strip()


def _directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.level or state.blkIndent or state.is_code_block(start):
        return False
    first = _line(state, start)
    if not first.startswith(SIGN):
        return False
    if silent:  # it ends the paragraph before it
        return True
    info, last = first[len(SIGN) :].strip(), start
    if info in BLOCKS:
        last = next((line for line in range(start + 1, end) if _line(state, line) == SIGN), end)
    token = state.push(DIRECTIVE, "", 0)
    token.info, token.map = info, [start, min(last + 1, end)]
    token.content = state.getLines(start + 1, last, 0, False) if last > start else ""
    token.meta = {OPEN: last == end}
    state.line = min(last + 1, end)
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: _Env
) -> str:
    """Below the slide's own."""
    return "<h3>" if tokens[place].nesting > 0 else "</h3>\n"


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: _Env
) -> str:
    tokens[place].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, place, options, env)


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTED_MAX})
    made.enable("table").disable(["html_block", "html_inline", "image"])
    made.block.ruler.before(
        "fence", "directive", _directive, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    made.validateLink = lambda url: bool(_LINK.match(url))  # type: ignore[method-assign]
    for name, rule in (("heading_open", _heading), ("heading_close", _heading), ("link_open", _link)):
        made.add_render_rule(name, rule)
    return made


_MARKDOWN = _made()
