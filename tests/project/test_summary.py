"""SUMMARY.md: written and read alike, and a proof of its own plan only."""

import pytest

from fairlead.project.derive.inventory import Proof
from fairlead.project.derive.phase_files import summary_head
from fairlead.project.summary import Actuals, Summary, fault_of, new_summary, read_summary
from tests.support.corpus import corpus_documents

SUMMARY = Summary(
    phase="03-post-feed",
    plan=2,
    title="The feed shows <b>posts</b>",
    completed="2026-06-01",
    duration="12 min",
    subsystem="ui",
    tags=("react", "feed"),
    created=("src/a.ts",),
    modified=("src/b: c.ts",),
    decisions=("Use --- and # as they are",),
    requirements=("FEED-01",),
    actuals=Actuals(74_000, 3, 4),
    commits=(("Task 1: Create", "abc1234"), ("Task 2: Skip", "-")),
    ledger="ab" * 32,
)


def test_a_summary_reads_back_as_it_was() -> None:
    text = new_summary(SUMMARY)
    again = read_summary(text)

    assert again.title == "The feed shows \\<b>posts\\</b>"
    assert (again.phase, again.plan, again.actuals) == (SUMMARY.phase, 2, SUMMARY.actuals)
    assert (again.created, again.modified) == (SUMMARY.created, SUMMARY.modified)
    assert (again.commits, again.ledger) == (SUMMARY.commits, SUMMARY.ledger)
    assert (again.decisions, again.requirements) == (SUMMARY.decisions, SUMMARY.requirements)


def test_a_summary_proves_its_plan_unless_its_self_check_failed() -> None:
    failed = Summary("3", 2, "x", "2026-06-01", is_sound=False)

    assert summary_head(new_summary(SUMMARY).encode()).proof is Proof.COMPLETE
    assert summary_head(new_summary(failed).encode()).proof is Proof.FAILED
    assert not read_summary(new_summary(failed)).is_sound


def test_a_rehearsed_summary_says_so() -> None:
    text = new_summary(Summary("3", 2, "x", "2026-06-01", rehearsed=True))

    assert "\nrehearsed: true\n" in text
    assert read_summary(text).rehearsed


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("---\nplan: 03\n---\n", "belongs to plan 03, not to 03-02"),
        ("---\nplan: 03-01\n---\n", "belongs to plan 03-01, not to 03-02"),
        ("---\nstatus: blocked\n---\n", "says that the plan is blocked"),
        ("## Self-Check: FAILED\n", "says that its self-check failed"),
        ("---\nplan: 02\n---\n", ""),
        ('---\nplan: "03-02"\n---\n', ""),
        ("It is done.\n", ""),
    ],
)
def test_a_summary_proves_its_own_plan_only(text: str, fault: str) -> None:
    assert fault_of(text, "03-02") == fault


def test_every_summary_of_the_corpus_is_read() -> None:
    texts = [text for path, text in corpus_documents() if path.name.endswith("-SUMMARY.md")]

    assert all(read_summary(text).status for text in texts)
