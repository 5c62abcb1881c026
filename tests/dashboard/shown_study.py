"""A finished study, the one of the browser's tests, and what a person sees of a page."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"\{\w+[?}]")


def result_of_fixture() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(
        gzip.decompress((ROOT / "tests/js/fixtures/study.json.gz").read_bytes())
    )
    return result


def shown(html: str) -> str:
    """What a person can see of a page: scripts with their data left out. Nothing inline may run or style."""
    assert "style=" not in html and "onclick" not in html
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))", html)
    text = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not PLACE.search(re.sub(r'data-[a-z-]+="[^"]*"', "", text)), "a place was left unfilled"
    return text
