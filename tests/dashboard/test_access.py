"""Who somebody is, by header or cookie, and whose a lab or a study is: with hashes alone, and a token that is
given decides alone."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from dashboard.access import (
    bearer_of,
    is_owner,
    is_token,
    token_hash,
    token_new,
    visitor_of,
    visitor_remember,
)
from dashboard.errors import Refused
from dashboard.studies.owner import owner_of

PROGRAM, VISITOR, OTHER = "program-" + "p" * 20, "visitor-" + "v" * 20, "other-" + "o" * 20


def request(
    *, bearer: str | None = None, cookie: str | None = None, authorization: str | None = None
) -> HttpRequest:
    """As a program sends it, or a browser, or both."""
    header = f"Bearer {bearer}" if bearer is not None else authorization
    made = RequestFactory().get("/", headers={"authorization": header} if header is not None else {})
    if cookie is not None:
        made.COOKIES["highwater_visitor"] = cookie
    return made


# -- tokens --------------------------------------------------------------------------------------------------


def test_a_new_token_is_one_of_ours_and_no_two_are_alike() -> None:
    tokens = {token_new() for _time in range(50)}
    assert len(tokens) == 50 and all(map(is_token, tokens)) and min(map(len, tokens)) >= 43, "256 bits"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a" * 15, False),
        ("a" * 16, True),
        ("A9_-" * 32, True),
        ("a" * 129, False),
        ("a" * 15 + "é", False),
        ("a" * 20 + "\n", False),
        ("a" * 20 + " ", False),
        ("", False),
    ],
)
def test_a_token_is_16_to_128_letters_digits_and_two_signs(text: str, is_one: bool) -> None:
    assert is_token(text) == is_one


# -- who asks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, None),
        ("", None),
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("BEARER   abc ", "abc"),
        ("Bearer", ""),
        ("Basic abc", None),
        ("abc", None),
        ("Bearerabc", None),
    ],
)
def test_the_token_of_a_program_stands_behind_bearer(header: str | None, token: str | None) -> None:
    assert bearer_of(request(authorization=header)) == token


@pytest.mark.parametrize(
    ("cookie", "visitor"),
    [(None, None), (VISITOR, VISITOR), ("short", None), ("x" * 20 + ";", None), ("", None)],
)
def test_a_cookie_that_is_none_of_ours_is_no_visitor(cookie: str | None, visitor: str | None) -> None:
    assert visitor_of(request(cookie=cookie)) == visitor


@pytest.mark.parametrize("is_tls", [False, True])
def test_the_visitors_cookie_is_out_of_reach_of_scripts_and_other_sites(settings: Any, is_tls: bool) -> None:
    settings.VISITOR_COOKIE_SECURE = is_tls
    response = HttpResponse()
    visitor_remember(response, VISITOR)
    cookie = response.cookies["highwater_visitor"]
    assert (cookie.value, cookie["httponly"], cookie["samesite"], bool(cookie["secure"])) == (
        VISITOR,
        True,
        "Lax",
        is_tls,
    )
    assert cookie["max-age"] == 365 * 24 * 3600 and cookie["path"] == "/"


# -- whose a lab is ------------------------------------------------------------------------------------------


LAB: Any = SimpleNamespace(owner_hash=token_hash(PROGRAM), visitor_hash=token_hash(VISITOR))


@pytest.mark.parametrize(
    ("bearer", "visitor", "is_own"),
    [
        (PROGRAM, None, True),
        (None, VISITOR, True),
        (PROGRAM, OTHER, True),
        (OTHER, VISITOR, False),  # a token that is given decides alone
        ("", VISITOR, False),
        (VISITOR, None, False),  # each token opens its own door
        (None, PROGRAM, False),
        (None, OTHER, False),
        (None, None, False),
    ],
)
def test_a_lab_is_its_programs_or_its_visitors(bearer: str | None, visitor: str | None, is_own: bool) -> None:
    assert is_owner(LAB, bearer=bearer, visitor=visitor) == is_own


@pytest.mark.parametrize("given", [{"visitor": None}, {"visitor": ""}, {"visitor": VISITOR}])
def test_a_lab_without_a_visitor_is_no_visitors(given: dict[str, str | None]) -> None:
    lab: Any = SimpleNamespace(owner_hash=token_hash(PROGRAM), visitor_hash="")
    assert not is_owner(lab, bearer=None, **given)  # type: ignore[arg-type]


def test_the_stored_hash_itself_opens_nothing() -> None:
    assert not is_owner(LAB, bearer=LAB.owner_hash, visitor=None) and not is_owner(
        LAB, bearer=None, visitor=LAB.visitor_hash
    )


# -- whose a study is ----------------------------------------------------------------------------------------


def test_a_study_is_the_programs_that_brings_a_token_and_else_the_browsers() -> None:
    assert owner_of(request(bearer=PROGRAM, cookie=VISITOR)).hash == token_hash(PROGRAM)
    assert owner_of(request(cookie=VISITOR)).hash == token_hash(VISITOR)
    for asked in (request(bearer=PROGRAM), request(cookie=VISITOR)):
        assert owner_of(asked, make=True).told == {}, "who has a token is told none"


def test_who_brings_nothing_gets_a_token_only_where_something_is_made() -> None:
    assert owner_of(request()).hash is None and owner_of(request()).told == {}
    made = owner_of(request(), make=True)
    token = made.told["owner_token"]
    assert is_token(token) and made.hash == token_hash(token)
    assert owner_of(request(bearer=token)).hash == made.hash, "and is known by it from then on"


@pytest.mark.parametrize("bearer", ["", "short", "x" * 200, "with blanks in between it"])
@pytest.mark.parametrize("make", [False, True])
def test_a_token_that_cannot_be_one_is_refused_rather_than_replaced(bearer: str, make: bool) -> None:
    with pytest.raises(Refused) as refused:
        owner_of(request(bearer=bearer, cookie=VISITOR), make=make)
    assert refused.value.status == 401 and list(refused.value.fields) == ["authorization"]
