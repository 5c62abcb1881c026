"""The page Learn: what it lists, the lab behind Play, a teacher's own file, and the lesson's panel in the
Stage's first frame."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.utils import translation

from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.frames import KINDS
from dashboard import lessons
from dashboard.course import CHAPTERS, LEVELS, START
from dashboard.labs import services
from dashboard.lesson_words import asks_words, came_words
from dashboard.models import Lab
from dashboard.page import base_context, lab_page, stage_context
from dashboard.presentation import present
from dashboard.sentences import LANGUAGES, catalogue
from tests.dashboard.stored_view import told

Json = dict[str, Any]
NAME = "kafka_cooperative_join"
pytestmark = pytest.mark.django_db


def page(language: str = "en") -> str:
    return Client(headers={"accept-language": language}).get("/learn/").content.decode()


def played(name: str = NAME, until_s: float = 0, **changes: str) -> Json:
    """The view of a lab that has played the lesson so far."""
    text = read_file(shelf()[name])
    for old, new in changes.items():
        text = text.replace(old, new)
    scenario = scenario_from_text(text)
    lab, position = CoreLab(scenario), 0
    for entry in scenario.lesson.script():
        if entry["at_us"] <= until_s * 1e6:
            position += 1
            lab.advance_to(entry["at_us"])
            lab.submit({**entry["body"], "position": position})
    lab.advance_to(round(until_s * 1e6))
    return lab.view()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_lesson_stands_in_its_chapter_with_level_length_still_and_address(language: str) -> None:
    text, words = page(language), catalogue("learn")[language]
    short = "zh" if language.startswith("zh") else "en"
    parts = re.split(r'<section class="chapter" id="(\w+)"', text)
    chapters = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(chapters) == list(CHAPTERS)
    for each in lessons.shelved().values():
        (row,) = re.findall(
            rf'<li [^>]*><a href="/learn/{each.name}/">.*?</li>', chapters[each.place.chapter], re.DOTALL
        )
        assert f">{html.escape(each.lesson.title[short])}</span>" in row
        assert words[f"learn.level.{each.place.level}"] in row and row.count(
            'class="no"'
        ) == 2 - LEVELS.index(each.place.level)
        assert words["learn.level_minutes"].replace("{minutes}", str(each.minutes)) in row
        assert '<svg class="still"' in row
    for name, body in chapters.items():
        shown, _, rest = body.partition("<details>")
        count = sum(each.place.chapter == name for each in lessons.shelved().values())
        assert shown.count("<li ") == 3 and rest.count("<li ") == count - 3
    start = re.search(r'<section id="start".*?</section>', text, re.DOTALL).group()  # type: ignore[union-attr]
    assert re.findall(r'<li [^>]*><a href="/learn/(\w+)/">', start) == list(START)


def test_a_lesson_has_a_page_that_says_all_without_scripts() -> None:
    for name in lessons.shelved():
        answer = Client().get(f"/learn/{name}/?from=elsewhere")
        text, told = answer.content.decode(), lessons.shelved()[name].lesson
        assert answer.status_code == 200
        assert f'<link rel="canonical" href="http://testserver/learn/{name}/">' in text
        for said in (told.title, told.line, told.you_will_learn, told.watch_for):
            assert html.escape(said["en"]) in text
        captions = [step.caption["en"] for step in told.steps if step.caption]
        frames = re.search(r'<ol class="frames">(.*?)</ol>', text, re.DOTALL).group(1)  # type: ignore[union-attr]
        assert re.findall(r"<span data-en[^>]*>(.*?)</span></li>", frames) == [
            html.escape(caption) for caption in captions
        ]
        assert f'name="scenario" value="{name}"' in text and "Made by the Highwater project" in text
        assert f'href="/learn/{name}.toml"' in text and f'href="/learn/own/?from={name}"' in text


def test_pages_of_a_chapter_lead_from_its_first_lesson_to_its_last() -> None:
    name, seen = "kafka_group_broadcast", []
    while name:
        seen.append(name)
        text = Client().get(f"/learn/{name}/").content.decode()
        after = re.search(r'href="/learn/(\w+)/"><span class="s m" data-say="learn.next">', text)
        name = after.group(1) if after else ""
    assert seen == [each for levels in CHAPTERS["log"].values() for each in levels]


def test_a_lesson_that_was_begun_goes_on_in_its_lab_while_that_is_there() -> None:
    client = Client()
    client.post("/learn/play/", {"scenario": NAME})
    lab = Lab.objects.get()
    assert client.get(f"/learn/{NAME}/?lab={lab.pk}")["Location"] == f"/lab/{lab.pk}/kafka/groups/"
    for gone in ("nix", "../../", services.lab_open(request={"consumers": 1}).lab.pk):
        assert client.get(f"/learn/{NAME}/", {"lab": gone}).status_code == 200


def test_no_lesson_has_the_name_of_another_address_and_an_unknown_one_has_no_page() -> None:
    assert not {"own", "play"} & set(lessons.shelved())
    assert Client().get("/learn/nix/").status_code == 404


def test_each_file_can_be_read_and_the_editor_begins_with_it() -> None:
    answer = Client().get(f"/learn/{NAME}.toml")
    text = read_file(shelf()[NAME])
    assert answer["Content-Type"] == "text/plain; charset=utf-8" and answer.content.decode() == text
    assert Client().get("/learn/nix.toml").status_code == 404
    assert html.escape(text) in Client().get(f"/learn/own/?from={NAME}").content.decode()
    assert Client().get("/learn/own/?from=nix").status_code == 200
    assert 'href="/learn/own/"' in page()


def test_a_lesson_takes_as_long_as_its_speeds_say() -> None:
    by_name = lessons.shelved()
    assert by_name[NAME].watch_us == 25_000_000
    # 6.1 s, then 48.9 s twenty times as fast, then 13 s.
    assert by_name["kafka_eager_join"].watch_us == pytest.approx(
        6_100_000 + 48_900_000 / 20 + 13_000_000, abs=2
    )


def test_play_makes_a_lab_of_the_visitors_own_and_goes_there() -> None:
    client = Client()
    client.get("/learn/")
    answer = client.post("/learn/play/", {"scenario": NAME})
    lab = Lab.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/lab/{lab.pk}/kafka/groups/")
    assert lab.name == "Cooperative rebalance: only what moves is paused"
    assert lab.visitor_hash
    assert [entry["body"]["kind"] for entry in lab.script] == ["join", "pause_lab"]
    assert lab.scenario["lesson"]["title"]["zh"] == "协作式再均衡：只有要移动的分区停顿"


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("pulsar_four_types", ""),
        ("kafka_cluster_high_watermark", "kafka/cluster/"),
        ("pulsar_newcomer_waits", "pulsar/"),
        ("rabbitmq_crash_requeue", ""),
    ],
)
def test_play_leads_to_the_page_that_the_file_names(name: str, page: str) -> None:
    answer = Client().post("/learn/play/", {"scenario": name})
    assert answer["Location"] == f"/lab/{Lab.objects.get().pk}/{page}"


def test_play_leads_to_the_lane_in_front() -> None:
    text = read_file(shelf()["kafka_cluster_data_loss"]).replace(
        'page = "cluster"', 'page = "cluster"\nfront = "fetch"'
    )
    answer = Client().post("/learn/play/", {"text": text})
    assert answer["Location"] == f"/lab/{Lab.objects.get().pk}/kafka/cluster/?lane=fetch"


def test_the_stage_is_not_a_lesson_that_was_played_once() -> None:
    client = Client()
    client.post("/learn/play/", {"scenario": NAME})
    lesson = Lab.objects.get()
    stage = services.lab_for_visitor(visitor=client.cookies[settings.VISITOR_COOKIE].value)
    assert stage.pk != lesson.pk and "lesson" not in stage.scenario
    assert services.lab_for_visitor(visitor=client.cookies[settings.VISITOR_COOKIE].value).pk == stage.pk


def test_play_is_under_the_same_quota_as_any_other_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "LABS_ADDRESS_MAX", 1)
    client = Client()
    assert client.post("/learn/play/", {"scenario": NAME}).status_code == 302
    answer = client.post("/learn/play/", {"scenario": NAME})
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0
    assert f'value="{NAME}"' in answer.content.decode()
    assert "your network address has reached its limit" in answer.content.decode()
    assert Lab.objects.count() == 1


def test_play_needs_the_pages_token() -> None:
    assert Client(enforce_csrf_checks=True).post("/learn/play/", {"scenario": NAME}).status_code == 403
    assert Client().get("/learn/play/").status_code == 405


def test_an_unknown_lesson_is_said() -> None:
    answer = Client().post("/learn/play/", {"scenario": "nix"})
    assert answer.status_code == 404 and "there is no lesson of this name" in answer.content.decode()


def test_a_teachers_own_text_or_file_plays() -> None:
    text = Path(shelf()["pulsar_sticky_newcomer"]).read_text()
    assert Client().post("/learn/play/", {"text": text.replace("\n", "\r\n")}).status_code == 302
    assert (
        Client()
        .post("/learn/play/", {"text": "", "file": SimpleUploadedFile("my.toml", text.encode())})
        .status_code
        == 302
    )
    assert [lab.name for lab in Lab.objects.all()] == ["Sticky ranges: a gap has no consumer"] * 2


@pytest.mark.parametrize(
    ("old", "new", "english", "chinese"),
    [
        (
            'do = "join"',
            'do = "jump"',
            "line 58: step 2, do: must be one of join",
            "第 58 行: step 2, do: 只能是其中之一：join",
        ),
        ("lasts_s = 30", "lasts_s = long", "line 8: is not TOML", "第 8 行: 不是 TOML"),
    ],
)
def test_what_is_wrong_in_a_text_is_said_with_its_line_and_the_text_stays(
    old: str, new: str, english: str, chinese: str
) -> None:
    text = read_file(shelf()["pulsar_sticky_newcomer"]).replace(old, new)
    for language, message in (("en", english), ("zh-hans", chinese)):
        answer = Client(headers={"accept-language": language}).post("/learn/play/", {"text": text})
        shown = answer.content.decode()
        assert answer.status_code == 400
        assert message in shown
        assert f'class="editor" data-line="{re.search("[0-9]+", message)[0]}"' in shown  # type: ignore[index]
        assert new.replace('"', "&quot;") in shown
    assert not Lab.objects.exists()


def test_a_text_that_is_too_long_too_deep_or_empty_is_refused() -> None:
    for content, message in (
        (b"#" * 40_000, "is longer than"), (b"", "is missing"), (b"\xff\xfe", "not TOML"),
        (b"title.en = 1\n" + b"a." * 15_000 + b"a = 1", "line 2: has a name of more than"),
        (b"lasts_s = 1e308", "line 1: lasts_s: must be a number of seconds from 0 to"),
    ):  # fmt: skip
        answer = Client().post(
            "/learn/play/", {"file": SimpleUploadedFile("my.toml", content)} if content else {"text": ""}
        )
        assert answer.status_code == 400 and message in answer.content.decode(), content[:4]


# -- the panel -----------------------------------------------------------------------------------------------


def test_panel_says_not_yet_until_a_number_has_come_and_what_came_then() -> None:
    words = catalogue("stage")["en"]
    before, after = (present(played(until_s=at_s), words) for at_s in (14, 25))
    assert [check["state"] for check in before["lesson"]["checks"]] == ["not_yet"] * 5
    assert {check["figure"] for check in before["lesson"]["checks"]} == {"–"}
    assert (
        before["lesson"]["is_over"],
        before["lesson"]["slots"]["sum"],
        before["lesson"]["slots"]["told"],
    ) == (False, "0/5", "")
    assert " ".join(told(before)) == "c3 joins. The others keep reading while they join again."
    assert [check["state"] for check in after["lesson"]["checks"]] == ["holds"] * 5
    assert after["lesson"]["checks"][2]["figure"] == "4"
    assert after["lesson"]["slots"]["sum"] == "5/5"
    assert after["lesson"]["is_over"] is True


def test_panel_says_that_a_check_fails() -> None:
    shown = present(played(until_s=25, **{"is = 3": "is = 9"}), catalogue("stage")["en"])["lesson"]
    failed = [check for check in shown["checks"] if check["state"] == "fails"]
    assert [(check["figure"], check["word"], check["about"]) for check in failed] == [
        ("3", "fails", "0:25, should be 9")
    ]
    assert shown["slots"]["sum"] == "4/5"


def test_a_check_names_its_lane_where_checks_ask_several() -> None:
    words = catalogue("stage")["en"]
    view = played("pulsar_ring_against_ranges", until_s=40)
    asked = [check["lane"] for check in view["lesson"]["checks"]]
    assert len(set(asked)) > 1
    shown = [check["about"].partition(" · ")[0] for check in present(view, words)["lesson"]["checks"]]
    titles = {lane: f"Pulsar: {title['en']}" for lane, title in view["lesson"]["lanes"].items()}
    assert shown == [
        titles[lane] if lane else about for lane, about in zip(asked, shown, strict=True)
    ]  # as the Stage calls it
    assert all(
        re.match(r"\d+:\d\d, should be ", check["about"])
        for check in present(played(until_s=14), words)["lesson"]["checks"]
    )


def test_caption_is_the_labs_own_after_an_order_that_is_not_the_lessons() -> None:
    view, words = played(until_s=14), catalogue("stage")["en"]
    shown = present({**view, "lesson": {**view["lesson"], "meddled_us": 13_000_000}}, words)
    assert told(shown)[0].startswith("c3 joined.")
    shown = present({**view, "lesson": {**view["lesson"], "meddled_us": 11_000_000}}, words)
    assert told(shown)[0].startswith("The lesson's plan: c3 joins.")
    assert "last at 0:11" in shown["lesson"]["slots"]["note"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_command_line_and_panel_use_the_same_words_for_a_check(language: str) -> None:
    words = catalogue("stage")[language]
    view = played("pulsar_ring_against_ranges", until_s=40)
    for place, check in enumerate(present(view, words)["lesson"]["checks"]):
        lesson = view["lesson"]
        assert check["figure"] == came_words(lesson["results"][str(place)], words)
        assert check["about"].endswith(asks_words(lesson["checks"][place]["asks"], words))


def draw(view: Json, language: str) -> str:
    """The Stage's first frame, without what only scripts read."""
    with translation.override(language):
        context = base_context(RequestFactory().get("/"), "stage")
        context["page"] |= lab_page("x", seq=1, epoch=0, is_owner=True, csrf="t")
        context["frame"] = {"lesson": view.get("lesson", {}).get("title"), "title": "x", "tabs": []}
        text = render_to_string(
            "dashboard/stage.html", context | stage_context(view, context["catalogue"][language])
        )
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_first_frame_has_the_panel_with_all_that_later_frames_write(language: str) -> None:
    view = played(until_s=14)
    text = draw(view, language)
    shown = present(view, catalogue("stage")[language])["lesson"]
    assert text.count("data-check") == len(shown["checks"]) == 5
    assert set(re.findall(r'data-lesson="(\w+)"', text)) == set(shown["slots"])
    assert set(re.findall(r'data-of="(\w+)"', text)) == set(shown["checks"][0]) - {"state"}
    assert shown["label"] in text and shown["checks"][0]["about"] in text
    assert 'id="lesson"' not in draw(
        {name: part for name, part in view.items() if name != "lesson"}, language
    )


def test_pages_find_each_kind_of_thing_that_a_frame_may_point_at() -> None:
    source = Path("static/js/lesson/things.js").read_text(encoding="utf-8")
    found = {
        page: tuple(
            re.findall(
                r"^  (\w+):",
                re.search(rf"^const {page.upper()} = {{\n(.*?)^}};", source, re.MULTILINE | re.DOTALL)[1],
                re.MULTILINE,
            )
        )
        for page in KINDS
    }
    assert found == dict(KINDS)
