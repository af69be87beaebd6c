from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from matplotlib.figure import Figure

from smtc_lab.errors import StoreError
from smtc_lab.metrics.finding import caution
from smtc_lab.views.figures import frame as frame_module
from smtc_lab.views.figures.theme import DARK, LIGHT
from smtc_lab.views.report import html as report_module
from smtc_lab.views.report.html import machine_facts, report_html, write_report
from smtc_lab.views.text.format import plain
from tests.kit.comparison_runs import HETEROGENEOUS, HOMOGENEOUS
from tests.kit.comparisons import example_comparison
from tests.kit.hostile import HOSTILE_TEXTS, markup_of

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from tests.kit.golden_texts import GoldenTexts


class _Page(HTMLParser):
    """The elements and texts of a page, without a dependency on an HTML library."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] != "style":
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def lines(self) -> str:
        """The texts, each on a line."""
        return "\n".join(" ".join(text.split()) for text in self.texts if text.strip())


@pytest.fixture(scope="module")
def real_page() -> str:
    comparison, runs = example_comparison()
    warned = comparison.model_copy(update={"findings": (caution("noise", "It was noisy."),)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_module, "PNG_DPI", 50)
        return report_html(warned, runs)


@pytest.fixture
def quick_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the drawing, which takes seconds and which other tests look at."""
    for maker in ("make_figure", "overview_figure"):
        monkeypatch.setattr(report_module, maker, lambda *_, **__: Figure())
    monkeypatch.setattr(report_module, "rendered", lambda *_: b"image")


def test_the_page_is_self_contained_and_runs_nothing(real_page: str) -> None:
    page = _Page(real_page)

    assert {"script", "iframe", "object", "embed", "link", "svg", "form", "base"}.isdisjoint(
        tag for tag, _ in page.elements
    )
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "srcset", "href", "action", "style"):
            if name in attributes:
                assert (tag, name) in {("img", "src"), ("source", "srcset")}
                assert str(attributes[name]).startswith("data:image/png;base64,")
    assert "url(" not in real_page
    assert "@import" not in real_page


def test_the_page_forbids_everything_but_its_own_images_and_styles(real_page: str) -> None:
    (policy,) = (m for m in _Page(real_page).all("meta") if "http-equiv" in m)

    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"] == ("default-src 'none'; img-src data:; style-src 'unsafe-inline'")


def test_each_figure_is_there_in_light_and_dark_with_the_finding_as_its_text(
    real_page: str, golden_texts: GoldenTexts
) -> None:
    page = _Page(real_page)

    images, sources = page.all("img"), page.all("source")

    assert len(images) == len(sources) == len(page.all("figure")) == 5
    assert {source["media"] for source in sources} == {
        "screen and (prefers-color-scheme: dark)"
    }
    assert len({image["src"] for image in images} | {s["srcset"] for s in sources}) == 10
    golden_texts(
        "report", {f"figure {n}": image["alt"] or "" for n, image in enumerate(images, 1)}
    )


def test_the_page_is_semantic(real_page: str) -> None:
    page = _Page(real_page)

    assert len(page.all("h1")) == 1
    assert len(page.all("main")) == 1
    assert len(page.all("caption")) == len(page.all("table")) == 4
    assert {header["scope"] for header in page.all("th")} == {"col", "row"}
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("figcaption")) == 5
    scrolled = [d for d in page.all("div") if "scroll" in (d.get("class") or "")]
    assert all(d["role"] == "region" and d["tabindex"] == "0" for d in scrolled)


@pytest.mark.usefixtures("quick_images")
def test_the_page_tells_all_that_is_known(golden_texts: GoldenTexts) -> None:
    unpriced = tuple(replace(group, usd_per_hour=None) for group in HETEROGENEOUS.groups)
    alone, _ = example_comparison([replace(HOMOGENEOUS, launches=1)], emulated=False)
    pages = {
        "emulated": example_comparison(),
        "one cluster without records": (alone, []),
        "unknown price": example_comparison(
            [HOMOGENEOUS, replace(HETEROGENEOUS, groups=unpriced)]
        ),
    }

    told = {name: _Page(report_html(*each)).lines for name, each in pages.items()}

    golden_texts("report", told)


@pytest.mark.usefixtures("quick_images")
def test_warnings_come_before_the_numbers() -> None:
    comparison, runs = example_comparison()
    warned = comparison.model_copy(update={"findings": (caution("noise", "It was noisy."),)})

    text = _Page(report_html(warned, runs)).text

    assert text.index("It was noisy.") < text.index("Side by side")
    assert "Warnings None." not in text


@pytest.mark.usefixtures("quick_images")
def test_hostile_names_are_text() -> None:
    comparison, runs = example_comparison()
    usual = markup_of(report_html(*_renamed(comparison, runs, "plain")))

    # a lone surrogate is no text that a file can hold, and so not in the list
    for name in (*HOSTILE_TEXTS, "a\ud800"):
        html = report_html(*_renamed(comparison, runs, name))
        page = _Page(html)
        assert markup_of(html) == usual, name
        assert "49" not in re.sub(r"[\d.,]*49[\d.,]+|[\d.,]+49[\d.,]*", "", page.text)
        assert page.text.replace("\xa0", " ").count(plain(name)[:20]) >= 10, name


def _renamed(
    comparison: Comparison, runs: list[RunRecords], name: str
) -> tuple[Comparison, list[RunRecords]]:
    """Return the comparison with the name in every text that comes from outside."""
    clusters = tuple(
        cluster.model_copy(
            update={
                "name": name,
                "cpu_quota_mechanism": name,
                "runs": tuple(f"{name}-{number}" for number in range(3)),
                "instance_groups": tuple(
                    group.model_copy(
                        update={
                            "instance_group_name": name,
                            "instance_type": name,
                            "price_kind": name,
                            "price_date": name,
                        }
                    )
                    for group in cluster.instance_groups
                ),
                "utilization": cluster.utilization.model_copy(update={"cpu": {name: 0.5}}),
            }
        )
        for cluster in comparison.clusters
    )
    pairs = tuple(
        pair.model_copy(update={"baseline": name, "candidate": name, "verdict": name})
        for pair in comparison.pairs
    )
    changed = comparison.model_copy(
        update={
            "clusters": clusters,
            "pairs": pairs,
            "entry_point": name,
            "created": name,
            "verdict": name,
            "findings": (caution(name, name, name),),
            "machine": {name: name, "versions": {name: [name]}},
        }
    )
    return changed, [replace(run, state=name) for run in runs]


@pytest.mark.usefixtures("quick_images")
def test_one_cluster_without_records_makes_a_page(tmp_path: Path) -> None:
    comparison, _ = example_comparison([replace(HOMOGENEOUS, launches=1)], emulated=False)

    path = write_report(comparison, [], tmp_path / "new" / "report.html")

    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_machine_facts_have_the_units_of_their_names() -> None:
    facts = machine_facts(
        {
            "cpu": "EPYC",
            "cores": 2.0,
            "memory_gib": 7.75,
            "disk_bytes": 3 * 2**30,
            "gpus": [],
            "is_virtual": True,
            "kernel": None,
            "versions": {"torch": "2.9.0"},
        }
    )

    assert facts == [
        ("cpu", "EPYC"),
        ("cores", "2"),
        ("memory", "7.75 GiB"),
        ("disk", "3 GiB"),
        ("gpus", "none"),
        ("is virtual", "True"),
        ("kernel", "unknown"),
        ("torch", "2.9.0"),
    ]


def test_the_page_has_the_colours_of_the_figures(real_page: str) -> None:
    for theme in (LIGHT, DARK):
        assert all(color in real_page for color in theme.colors)


@pytest.mark.usefixtures("quick_images")
def test_a_report_that_cannot_be_written_names_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    with pytest.raises(StoreError, match=r"report.html' cannot be written: .*Choose a path"):
        write_report(*example_comparison(), tmp_path / "file" / "report.html")
