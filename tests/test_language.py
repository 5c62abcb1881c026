"""Words that mark a translation, refused in comments, docstrings, docs and msgids (docs/words.md has the field's).

A short list: each pattern is tuned so that a right use of the same words passes, and says what to write instead.
"""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_OURS = ("tests/vectors/", "static/vendor/")
KINDS = (".py", ".js", ".mjs", ".css", ".md", ".po")
# What a change meant to people when it was made stays as they read it then; this file quotes what it refuses.
LEFT_OUT = ("CHANGELOG.md", "tests/test_language.py")
RULE = r"(?:may|can|must|shall|should|has to|is allowed to)\b"
STAYS = r"(?:stays?|stayed|leaves?|left|is|are|remains?|kept|keeps?) (?:just )?"
WHO_IS = r"Who(?:ever)? (?:is|has|was|had) [^,.:;?]*?\b"
REFUSED = {
    r"\b(?:is|are) told\b(?! (?:to|apart|from)\b)": "learns, hears, gets; is reported, is an event",
    r"\b(?:goes|go|went|going) on where\b": "continues where",
    r"\b(?:stands?|stood|standing) still\b": "is paused, is frozen, does not advance",
    r"\banew\b": "again",
    r"\bthe matter with\b": "wrong with",
    r"\bby (?:itself|themselves)\b": "alone, on its own, automatically",
    rf"(?:^|[.:;(] ){WHO_IS}(?:keeps|joins|says|gets|gives|may|must|can|waits|takes|decides|is)\b":
        "the consumer (member, client) that is ...",
    rf"\b[Ss]omebody {RULE}": "who it is (a consumer, an operator), or a passive",
    rf"\b[Nn]obody {RULE}": "who it is (no consumer, no client), or a passive",
    rf"\b{STAYS}as (?:it was|they were)\b(?! (?:\w+ed|sent|given|made|before|on)\b)": "unchanged",
    r"\b(?:is|are|be|was|were|everything|all) in order(?=[.;:,)]|$)": "clean, sound, complete",
}  # fmt: skip


def passages(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(line, prose): each comment, docstring and msgid of a file, each line of a page."""
    if path.endswith(".py"):
        yield from passages_of_python(text)
    elif path.endswith((".js", ".mjs", ".css")):
        # Lines of one comment are one passage: a phrase may be broken between them.
        for found in re.finditer(r"/\*.*?\*/|(?:(?<![:\"'`/])//[^\n]*(?:\n\s*(?=//))?)+", text, re.DOTALL):
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"(?m)^\s*(?://|/?\*)", "", found[0])
    elif path.endswith(".po"):
        for found in re.finditer(r'^msgid((?: "[^\n]*"\n)(?:"[^\n]*"\n)*)', text, re.MULTILINE):
            yield text.count("\n", 0, found.start()) + 1, "".join(re.findall(r'"(.*)"', found[1]))
    else:
        for found in re.finditer(r"(?:[^\n]+\n?)+", text):
            yield text.count("\n", 0, found.start()) + 1, found[0]


def passages_of_python(text: str) -> Iterator[tuple[int, str]]:
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, said = token.start[0], token.string.lstrip("# ")
            if comments and comments[-1][0] + comments[-1][1].count("\n") + 1 == line:
                comments[-1] = comments[-1][0], f"{comments[-1][1]}\n{said}"
            else:
                comments.append((line, said))
    yield from comments
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.lineno, node.value.value


def faults(path: str, text: str) -> list[str]:
    """What is refused in a file: its place, the words around it, what to write instead."""
    found = []
    for line, passage in passages(path, text):
        prose = re.sub(r"\s+", " ", passage).strip()
        for pattern, instead in REFUSED.items():
            for match in re.finditer(pattern, prose):
                around = prose[max(0, match.start() - 30) : match.end() + 30]
                found.append(f"{path}:{line}: ...{around}... write: {instead}")
    return found


def files() -> list[str]:
    run = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [
        name
        for name in run.stdout.splitlines()
        if name.endswith(KINDS) and not name.startswith(NOT_OURS) and name not in LEFT_OUT
        and (ROOT / name).is_file()
    ]  # fmt: skip


def test_no_prose_has_the_words_of_a_translation() -> None:
    found = [fault for name in files() for fault in faults(name, (ROOT / name).read_text())]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("said", [
    "A client is told the leader.", "What is told of a lane.", "Members are told.",
    "It goes on where it stopped.", "They went on where they were.",
    "The partition stands still.", "All stood still for a second.",
    "The group begins anew.", "What is the matter with it.",
    "The demo adds one by itself.", "Messages by themselves.",
    "Who is not in the ISR may join at any fetch.", "Whoever was given its own joins with these.",
    "Somebody has to keep the counts right.", "While Completing nobody may commit.",
    "Refused, and the log is as it was.", "What a refusal leaves as it was, and more.",
    "A connection that is in order, and one that is not.", "Then everything is in order.",
])  # fmt: skip
def test_a_translated_phrase_is_refused_wherever_prose_is(said: str) -> None:
    broken = said.replace(" ", "\n", 3)
    assert faults("docs/a.md", f"# Page\n\n{broken}\n")
    assert faults("broker_core/a.py", f'"""Module.\n\n{broken}\n"""\n')
    assert faults("broker_core/a.py", "\n".join(f"# {line}" for line in broken.split("\n")) + "\nX = 1\n")
    assert faults("static/js/a.js", "\n".join(f"// {line}" for line in broken.split("\n")) + "\n")
    assert faults("locale/a.po", f'msgid ""\n"{said}"\nmsgstr "x"\n')


@pytest.mark.parametrize("said", [
    "Two of one title are told apart by their ids.", "It moves when it is told to.",
    "Messages arrive in order.", "Partitions are in order of their ids.", "By id, in order to compare.",
    "Each is in order, by key.".replace(", by", " by"),
    "He still stands.", "Who is there: join, leave, crash.", "Who is idle, and why?",
    "Records that nobody reads.", "Nobody has the key.", "A person may do it.",
    "It is as it was sent.", "The state as it was before the crash.", "Renewed.",
    "The consumer goes on its way.", "What matters with it.",
])  # fmt: skip
def test_a_right_use_of_the_same_words_passes(said: str) -> None:
    assert not faults("docs/a.md", said + "\n")


def test_code_is_not_prose() -> None:
    assert not faults("broker_core/a.py", 'TEXT = "the lab begins anew"\nanew = "by itself"\n')
    assert not faults("static/js/a.js", 'const said = "by itself", url = "http://anew/";\n')
    assert not faults("locale/a.po", 'msgid "again"\nmsgstr "anew"\n')
