"""Reports: one page that loads nothing, shows no secret and keeps hostile text as text."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from fairlead.core.values import replace
from fairlead.report.content import ReportedDocument, ReportFacts, job_page
from fairlead.report.html import html, rendered
from fairlead.report.markdown import markdown
from fairlead.report.model import (
    DocumentText,
    PageSection,
    PageTable,
    Paragraph,
    ProgramOutput,
    ReportPage,
)
from tests.conftest import Fairlead
from tests.report.test_formats import HOSTILE
from tests.seeds.conftest import SeedProject
from tests.support.council_scenes import deadlocked, vetoed

SECRETS = (
    "sk-ant-api03-" + "a1B2c3D4" * 10,
    "ghp_" + "a1B2c3D4" * 4 + "abcd",
    "AKIA" + "ABCDEFGH12345678",
)
LOADS = ("src", "srcset", "href", "data", "action", "poster", "background")


class Tags(HTMLParser):
    """Every tag of a page, and the addresses in its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses |= {value or "" for name, value in attrs if name in LOADS}


def tags_of(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    return tags


def a_page(text: str) -> ReportPage:
    blocks = (
        Paragraph(text),
        Paragraph(text, is_warning=True),
        PageTable((text, text), ((text, text),), numbers=(1,)),
        DocumentText(text, text),
        ProgramOutput(text, text),
    )
    return ReportPage(text, text, ((text, text),), (PageSection(text, blocks),))


@pytest.mark.parametrize("text", [*HOSTILE, "![x](javascript:x)", "[x](javascript:x)"])
def test_hostile_text_adds_nothing_that_runs_or_loads(text: str) -> None:
    tags = tags_of(html(a_page(text), "now"))
    assert not tags.names & {"script", "img", "iframe", "object", "embed", "link", "form"}
    assert not {name for name in tags.attributes if name.startswith("on") or name == "style"}
    assert tags.addresses == {"#section-1"}  # of the page itself


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_reaches_a_report(secret: str) -> None:
    page = a_page(f"The key is {secret} here.\n")
    assert secret not in html(page, "now")
    assert secret not in markdown(page)


def test_a_picture_from_elsewhere_is_only_a_link() -> None:
    tags = tags_of(rendered("![x](http://example.com/x.png)"))
    assert "img" not in tags.names


def test_markdown_is_rendered_without_its_frontmatter() -> None:
    shown = rendered("---\nphase: 1\n---\n\n# Title\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n")
    assert "phase: 1" not in shown
    tags = tags_of(shown)
    assert {"h1", "table", "td"} <= tags.names
    assert "style" not in tags.attributes


def test_a_fence_in_a_document_does_not_end_its_own() -> None:
    page = ReportPage(
        "T", "", (), (PageSection("S", (DocumentText("D", "````\n@someone\n````"),)),)
    )
    assert "`````markdown\n````\n@someone\n````\n`````" in markdown(page)
    assert "@<!-- -->someone" in markdown(a_page("@someone"))


def test_a_long_page_fits_into_a_pull_request() -> None:
    blocks = tuple(DocumentText(f"D{at}", "word " * 3000) for at in range(20))
    text = markdown(ReportPage("T", "", (), (PageSection("S", blocks),)))
    assert len(text) < 65_536
    assert "D19 is left out" in text


def test_a_council_report_has_votes_objections_and_the_veto() -> None:
    plans = ("# Plan\n\nFirst.", "# Plan\n\nSecond.")
    report = vetoed()
    facts = ReportFacts(council=report, master_plans=plans)
    text = html(job_page(facts, "BLOCKED"), "now")
    assert report.job.request in text
    assert report.job.veto is not None
    assert f"Veto of {report.job.veto.by}" in text
    assert "Second." in text
    assert "First." not in text
    assert len(text.encode()) < 500_000
    assert "objection" in html(job_page(ReportFacts(council=deadlocked()), "BLOCKED"), "now")


def test_long_documents_do_not_make_the_page_large() -> None:
    plans = tuple(ReportedDocument(f"{at}-PLAN.md", "x" * 1_000_000) for at in range(20))
    facts = replace(ReportFacts(council=vetoed()), plans=plans)
    assert len(html(job_page(facts, "BLOCKED"), "now").encode()) < 500_000


def test_the_report_of_a_phase_names_its_plans_and_results(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    project = SeedProject(tmp_path, fairlead)
    project.run("init", "Demo", "--yes")
    project.plan(1, 1)
    project.summary(1, 1)
    project.run("report", "--phase", "1", "-o", "phase.html")
    text = (tmp_path / "phase.html").read_text("utf-8")
    assert "01-01-PLAN.md" in text
    assert "01-01-SUMMARY.md" in text
    assert all(each.startswith("#section-") for each in tags_of(text).addresses)
    page = project.json("report", "--phase", "1")["page"]
    assert page["title"].startswith("Phase 1")
    code, _ = project.fails("report")
    assert code == 2


def test_outcomes_have_colours_and_every_section_a_link() -> None:
    table = PageTable(("seat", "round 1"), (("builder", "APPROVE"), ("security", "VETO")))
    sections = (PageSection("Votes", (table,)), PageSection("Cost", (Paragraph("$1"),)))
    page = html(ReportPage("Title", "FAILED: vetoed", (), sections), "now")
    assert '<td class="short good">APPROVE</td>' in page
    assert '<td class="short bad">VETO</td>' in page
    assert 'class="status bad"' in page
    assert tags_of(page).addresses == {"#section-1", "#section-2"}


def test_fields_on_their_own_lines_stay_apart_and_wrapped_prose_is_joined() -> None:
    shown = rendered(
        "Phase: 3 of 3\nStatus: In progress\n**Focus:** lamps\n\nA line\nthat goes on\n"
    )
    assert shown.count("<br />") == 2
    assert "<p>A line\nthat goes on</p>" in shown
