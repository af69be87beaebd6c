"""What a file is: a page that says what it shows, runs one script, and obeys no text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

import smtc_lab as lab
from smtc_lab.errors import ViewError
from smtc_lab.spec.emulation import Emulation
from smtc_lab.study.folder import StudyRequest
from smtc_lab.study.study_run import StudyRun
from smtc_lab.study.supervision import keep_here, make_study
from smtc_lab.views.share.page import json_in_script, page
from tests.kit.hostile import HOSTILE_TEXTS, markup_of
from tests.kit.records import run_records
from tests.views.share.files_kit import (
    AT,
    PLAIN,
    data_in,
    opened,
    outcome,
    text_of,
    words_in,
)

if TYPE_CHECKING:
    from pathlib import Path


def modules_in(html: str) -> list[str]:
    return re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)


def policy_in(html: str) -> str:
    (found,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    return unescape(found)


def test_a_comparison_says_what_it_is_when_it_was_made_and_that_it_was_emulated() -> None:
    html = text_of(outcome())

    words = words_in(html)
    assert words.startswith("A comparison, shared from smtc_lab train_images, 2026-11-03T10:15")
    assert "Begun 3 November 2026, 10:15 UTC. Saved 24 November 2026, 01:30 UTC" in words
    assert f"by smtc_lab {lab.__version__}." in words
    assert words.count("emulated True of the pipeline, not of the hardware.") == 1
    assert "nothing of it is sent anywhere" in html
    assert data_in(html)["saved"]["comparison"]["verdict"] in data_in(html)["text"].replace(
        "\n", " "
    )


def test_what_was_measured_is_not_called_emulated() -> None:
    assert "emulated" not in words_in(text_of(outcome(emulated=False)))


def test_a_page_runs_one_script_by_its_hash_and_loads_and_sends_nothing() -> None:
    html = text_of(outcome())

    (code,) = modules_in(html)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert policy_in(html).split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert html.index("Content-Security-Policy") < html.index("<style")
    outside = re.sub(r"<(script|style).*?</\1>", "", html, flags=re.DOTALL)
    assert not re.search(r"(src|href)=(?!\"data:,)", outside)
    assert "url(" not in "".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))


class _Scripts(HTMLParser):
    """Counts what a browser would find."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  HTMLParser's
        self.tags.append(tag)


def tags_of(html: str) -> list[str]:
    parser = _Scripts()
    parser.feed(html)
    parser.close()
    return parser.tags


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_no_text_of_a_result_becomes_markup(hostile: str) -> None:
    saved = {"info": {hostile: hostile}, "tables": {}}
    told = replace(PLAIN, kind=hostile, name=hostile, text=hostile, saved=saved)

    html = page(told, at=AT)

    assert tags_of(html) == tags_of(page(PLAIN, at=AT))
    assert markup_of(html) == markup_of(page(PLAIN, at=AT))
    assert data_in(html)["saved"] == saved


@pytest.mark.parametrize("char", ["<", ">", "&", "\u2028", "\u2029", "\ud800"])
def test_json_in_a_script_has_no_character_that_could_end_it(char: str) -> None:
    written = json_in_script({char: f"{char}/script{char}"})

    assert char not in written
    assert written.isascii()
    assert json.loads(written) == {char: f"{char}/script{char}"}


def test_a_run_of_somebody_else_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    attack = "</script><img src=x onerror=alert(1)><!--<script>"

    html = text_of(opened(tmp_path, run_records(state="Failed"), reason=attack))

    assert "<img" not in html
    assert "@onerror" not in markup_of(html)
    assert data_in(html)["saved"]["info"]["reason"].startswith("</script><img")


def test_a_run_that_goes_on_says_that_more_may_come(tmp_path: Path) -> None:
    html = text_of(opened(tmp_path, run_records(state="InProgress")))

    assert "It went on when this was saved" in words_in(html)
    assert "went on" not in words_in(text_of(outcome()))


def test_an_emulated_run_is_called_so(tmp_path: Path) -> None:
    emulation = Emulation(cores_per_vcpu=0.05, device_step_time_s=0.03)

    html = text_of(opened(tmp_path, run_records(emulation=emulation)))

    assert "True of the pipeline, not of the hardware." in words_in(html)
    assert "A run, shared from smtc_lab train-r1" in words_in(html)


def test_a_front_end_that_would_end_its_script_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "smtc_lab.views.share.page.built_front_end", lambda _: "let a = '</SCRIPT>'"
    )

    with pytest.raises(ViewError, match="holds '</script', which a page cannot"):
        page(PLAIN, at=AT)


def test_any_kind_of_study_can_be_shared(tmp_path: Path) -> None:
    request = StudyRequest(
        kind="scaling", jobs=(run_records().job,), root=tmp_path / "runs", created=AT
    )
    folder = make_study(request, keep_here)

    html = text_of(StudyRun(folder))

    assert words_in(html).startswith(f"A scaling, shared from smtc_lab {folder.name}")
    assert data_in(html)["saved"]["kind"] == "scaling"
    assert "It went on when this was saved" in words_in(html)
