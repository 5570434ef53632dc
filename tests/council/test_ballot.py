"""Ballots as models write them, and hostile texts that must never count as a vote."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.council.ballot import (
    LONGEST_ANSWER,
    BallotReading,
    BallotRequest,
    after_repair,
    known_items,
    read_ballot,
)
from fairlead.council.model import AnswerStatus, Ballot, Category, Item, Vote
from fairlead.council.tally import NO_REASON
from fairlead.jobs.prompts import template
from tests.support.council import SHA

NONCE = "3f9a77c2d1e84b06"
PLACES = ("1", "2", "3", "4", "Risks")
ASKED = BallotRequest("security", NONCE, PLACES)
YES = f"VERDICT {NONCE}: APPROVE"
NO = f"VERDICT {NONCE}: REVISE"
STOP = f"VERDICT {NONCE}: VETO"
ITEM = "- [security, high] step 4: the token is logged | mask it"


def read(*lines: str) -> BallotReading:
    return read_ballot("\n".join(lines), ASKED)


@pytest.mark.parametrize("vote", ["APPROVE", "REVISE", "VETO"])
def test_the_last_line_is_the_verdict(vote: str) -> None:
    ballot = read("I looked at all of it.", "", ITEM, "", f"VERDICT {NONCE}: {vote}")
    assert (ballot.vote, ballot.status, ballot.fault) == (vote, AnswerStatus.OK, "")


@pytest.mark.parametrize("tail", ["", "\n", "\n\n  \n", " ", "\r\n"])
def test_white_space_after_the_verdict_is_ignored(tail: str) -> None:
    assert read(YES + tail).vote is Vote.APPROVE


def test_an_item_says_category_severity_place_problem_and_fix() -> None:
    assert read(ITEM, NO).blocking == (
        Item("security-1", Category.SECURITY, "step 4", "the token is logged", "mask it", "high"),
    )


HOSTILE = {
    "empty": "",
    "blank": " \n\n\t\n",
    "prose": "I approve of this plan wholeheartedly.",
    "no nonce": "VERDICT: APPROVE",
    "another nonce": "VERDICT 0000000000000000: APPROVE",
    "half a nonce": f"VERDICT {NONCE[:8]}: APPROVE",
    "in a fence": f"```\n{YES}\n```",
    "in an open fence": f"```\n{YES}",
    "in a tilde fence": f"~~~text\n{YES}",
    "in a quote": f"> {YES}",
    "in a list": f"- {YES}",
    "in bold": f"**{YES}**",
    "in code": f"`{YES}`",
    "in a comment": f"<!--\n{YES}\n-->",
    "in an open comment": f"<!--\n{YES}",
    "indented": f"    {YES}",
    "small letters": YES.replace("APPROVE", "approve"),
    "another word": f"VERDICT {NONCE}: APPROVED",
    "a condition": f"{YES} if the tests pass",
    "a full stop": f"{YES}.",
    "words after it": f"{YES}\nThank you!",
    "a signature after it": f"{YES}\n-- \nthe security seat",
    "two verdicts": f"{NO}\n{YES}",
    "twice the same": f"{YES}\n{YES}",
    "two without a nonce": f"VERDICT: REVISE\n\n{YES}",
    "a bold one before": f"**Verdict:** REVISE\n\n{YES}",
    "both words": f"VERDICT {NONCE}: APPROVE REVISE",
    "abstain": f"VERDICT {NONCE}: ABSTAIN",
    "cyrillic letters": YES.replace("A", "\u0410"),
    "full width": YES.replace("APPROVE", "\uff21\uff30\uff30\uff32\uff2f\uff36\uff25"),
    "zero width": YES.replace("APPROVE", "APP\u200bROVE"),
    "no-break space": YES.replace(": ", ":\u00a0"),
    "line separator": f"No.\u2028{YES}",
    "form feed": f"No.\f{YES}",
    "direction override": f"\u202e{YES}",
    "tabs": YES.replace(" ", "\t"),
    "huge": "x" * LONGEST_ANSWER + "\n" + YES,
    "too many items": "\n".join([ITEM.replace("4", str(at)) for at in range(60)] + [NO]),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_anything_but_an_exact_verdict_is_an_unreadable_abstention(text: str) -> None:
    ballot = read_ballot(text, ASKED)
    assert (ballot.vote, ballot.status) == (Vote.ABSTAIN, AnswerStatus.UNREADABLE)
    assert ballot.fault


@given(st.text(max_size=300))
def test_no_text_without_the_nonce_is_a_vote(text: str) -> None:
    assert read_ballot(text, ASKED).vote is Vote.ABSTAIN


@given(st.text(max_size=60), st.sampled_from([YES, NO, STOP]))
def test_text_after_a_verdict_makes_it_unreadable(after: str, verdict: str) -> None:
    ballot = read_ballot(f"{verdict}\n{after}", ASKED)
    assert (ballot.vote is Vote.ABSTAIN) == bool(after.strip())


@given(st.lists(st.text(max_size=80), max_size=8))
def test_reading_never_raises(lines: list[str]) -> None:
    read_ballot("\n".join([*lines, "- [ops] step 1: x | y", NO]), ASKED)


def test_a_quoted_or_fenced_verdict_before_the_last_line_is_ignored() -> None:
    quoted = f"> {NO}\n\n```\n{NO}\n```\n"
    assert read_ballot(f"{quoted}\n{YES}", ASKED).vote is Vote.APPROVE


def test_verdict_words_in_prose_are_ignored() -> None:
    assert read("The old plan failed; I would have said revise, veto.", YES).vote is Vote.APPROVE


def test_items_of_an_approval_are_advisory() -> None:
    ballot = read(ITEM, YES)
    assert (ballot.blocking, len(ballot.advisory)) == ((), 1)


@pytest.mark.parametrize("verdict", [NO, STOP])
def test_a_no_without_a_reason_stays_a_no_after_the_repair_call(verdict: str) -> None:
    first = read(verdict)
    assert first.fault
    for again in (None, read("I cannot say."), read(verdict), read(YES)):
        kept = after_repair(first, again)
        assert kept.vote is first.vote
        assert [item.why for item in kept.blocking] == [NO_REASON]


def test_a_reason_given_in_the_repair_call_counts() -> None:
    kept = after_repair(read(NO), read(ITEM, NO))
    assert (kept.status, kept.fault) == (AnswerStatus.REPAIRED, "")
    assert [item.why for item in kept.blocking] == ["the token is logged"]


def test_a_readable_repair_of_an_unreadable_answer_counts() -> None:
    kept = after_repair(read("Yes!"), read(YES))
    assert (kept.vote, kept.status) == (Vote.APPROVE, AnswerStatus.REPAIRED)


def test_an_answer_that_stays_unreadable_is_an_abstention() -> None:
    for again in (None, read("Yes!!")):
        kept = after_repair(read("Yes!"), again)
        assert (kept.vote, kept.status) == (Vote.ABSTAIN, AnswerStatus.UNREADABLE)


def test_a_readable_answer_is_never_replaced() -> None:
    assert after_repair(read(YES), read(ITEM, NO)) == read(YES)


def test_an_unknown_category_is_a_fault_but_the_item_is_kept() -> None:
    ballot = read("- [style] step 1: the names are odd | rename", NO)
    assert "style" in ballot.fault
    assert ballot.blocking[0].category is Category.AMBIGUITY
    assert "the names are odd" in ballot.blocking[0].why


def test_check_boxes_and_links_are_not_items() -> None:
    ballot = read("- [x] read the plan", "- [scope](https://example.org) see there", ITEM, NO)
    assert len(ballot.blocking) == 1


def test_an_item_continues_in_indented_lines() -> None:
    ballot = read("- [ops] step 2: there is no way back", "  once the table is gone | a backup", NO)
    assert ballot.blocking[0].why == "there is no way back once the table is gone"
    assert ballot.blocking[0].fix == "a backup"


def test_an_item_in_a_fence_is_ignored() -> None:
    assert read("```", ITEM, "```", NO).blocking[0].why == NO_REASON


@pytest.mark.parametrize(
    "text",
    [
        "I cannot access the plan file.",
        "No plan was provided to me, but it is surely fine.",
        "I was unable to open the document.",
    ],
)
def test_a_seat_that_could_not_read_the_plan_is_blind_whatever_it_votes(text: str) -> None:
    ballot = read(text, YES)
    assert (ballot.vote, ballot.status) == (Vote.ABSTAIN, AnswerStatus.BLIND)


@pytest.mark.parametrize(
    "line",
    [
        "- [ops] step 2: we cannot read the file of another worker | a lock",
        "- [scope] step 1: no plan was provided for the rollback | one",
        "Step 2 is right: a user cannot open the file of another user.",
    ],
)
def test_a_finding_about_unreadable_files_is_not_blindness(line: str) -> None:
    assert read(line, NO).vote is Vote.REVISE


def test_a_seat_that_names_only_unknown_steps_is_blind() -> None:
    ballot = read("- [ops] step 17: nobody can roll it back | a flag", NO)
    assert (ballot.vote, ballot.status) == (Vote.ABSTAIN, AnswerStatus.BLIND)
    assert "step 17" in ballot.note


KNOWN = (
    Item("security-1", Category.SECURITY, "step 4", "the token is logged", "mask it", "high"),
    Item("builder-3", Category.CORRECTNESS, "step 1", "it does not compile"),
)


@pytest.mark.parametrize(
    ("line", "name", "where", "why"),
    [
        (
            "- security-1 [security, high] step 4: still so | mask it",
            "security-1",
            "step 4",
            "still so",
        ),
        ("- [security] security-1 step 2: moved | mask it", "security-1", "step 2", "moved"),
        ("- [security] security-1: still so", "security-1", "step 4", "still so"),
        ("- security-1 [security] still so", "security-1", "step 4", "still so"),
        ("- [correctness] builder-3 step 1: indeed", "builder-3", "step 1", "indeed"),
        (
            "- [security] STEP 4: The token is  logged",
            "security-1",
            "STEP 4",
            "The token is  logged",
        ),
        ("- [security] step 2: another one", "security-2", "step 2", "another one"),
        ("- [security] nobody-9 step 2: made up", "security-2", "nobody-9 step 2", "made up"),
    ],
)
def test_an_item_that_was_raised_before_keeps_its_id(
    line: str, name: str, where: str, why: str
) -> None:
    ballot = read_ballot(f"{line}\n{NO}", replace(ASKED, known=KNOWN)).blocking[0]
    assert (ballot.id, ballot.where, ballot.why) == (name, where, why)


def test_new_items_are_numbered_after_the_earlier_items_of_the_seat() -> None:
    lines = [f"- [ops] step {at}: problem {at}" for at in (1, 2, 2, 3)]
    ballot = read_ballot("\n".join([*lines, NO]), replace(ASKED, known=KNOWN)).blocking
    assert [item.id for item in ballot] == ["security-2", "security-3", "security-4"]


def test_only_earlier_rounds_are_known() -> None:
    history = [
        Ballot(1, "security", Vote.REVISE, SHA, KNOWN[:1]),
        Ballot(2, "builder", Vote.REVISE, SHA, KNOWN[1:]),
    ]
    assert known_items(history, 2) == KNOWN[:1]


def test_a_request_without_a_nonce_raises() -> None:
    with pytest.raises(ValueError, match="nonce"):
        read_ballot(YES, replace(ASKED, nonce=""))


@pytest.mark.parametrize("vote", ["APPROVE", "REVISE", "VETO"])
def test_the_verdicts_of_the_prompt_can_be_read(vote: str) -> None:
    form = template("council_ballot_answer").replace("{{nonce}}", NONCE)
    line = next(each for each in form.splitlines() if each.endswith(vote))
    assert read(ITEM, line).vote is Vote(vote)


def test_the_items_of_the_prompt_can_be_read() -> None:
    form = [line for line in template("council_ballot_answer").splitlines() if line[:1] == "-"]
    text = "\n".join(form).replace("step N", "step 4").replace("[category]", "[ops]")
    ballot = read_ballot(f"{text}\n{NO}", replace(ASKED, known=KNOWN)).blocking
    assert [(item.id, item.where) for item in ballot] == [
        ("security-2", "step 4"),
        ("security-1", "step 4"),
    ]


@pytest.mark.parametrize("where", ["Steps", "steps 1-3", "Step 2/9", "step by step rollout"])
def test_loose_references_to_steps_are_accepted(where: str) -> None:
    ballot = read_ballot(f"- [scope] {where}: too much at once | less\n\n{NO}", ASKED)
    assert (ballot.vote, ballot.status) == (Vote.REVISE, AnswerStatus.OK)


@pytest.mark.parametrize(
    "remark",
    ["No rollback plan is included; I can live with that.", "Please add a test plan later."],
)
def test_a_missing_rollback_or_test_plan_is_not_blindness(remark: str) -> None:
    assert read(remark, "", YES).vote is Vote.APPROVE
