"""The page of `fairlead job show` for council jobs, compared with recorded pages."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.agents.budget import Caps, Cost, may_spend
from fairlead.core.serialization import plain
from fairlead.council.model import Ballot, Blocker, CouncilJob, SeatPlan, Veto, Vote
from fairlead.council.report import council_report
from fairlead.interfaces.cli.job_page import job_page
from fairlead.interfaces.cli.output import Styled, report
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.ledger import PaidCall
from fairlead.jobs.model import Job, JobStatus
from fairlead.jobs.service import JobReport
from tests.conftest import Fairlead
from tests.support.council import NOW, SEATS, SHA, a_full_job
from tests.support.council_scenes import ANSWERED, PLAN, SCENES
from tools import pictures

PAGES = Path(__file__).parent / "pages"


def text_of(name: str, width: int = 100) -> str:
    lines = job_page(SCENES[name](), width=width)
    text = (
        "".join(part.text if isinstance(part, Styled) else part for part in line) for line in lines
    )
    return "".join(f"{line.rstrip()}\n" for line in text)


def page(job: CouncilJob, **more: str) -> str:
    lines = job_page(council_report(job, **more))  # type: ignore[arg-type]
    return "\n".join(
        "".join(part if isinstance(part, str) else part.text for part in line) for line in lines
    )


@pytest.mark.parametrize("name", SCENES)
def test_the_page_of_a_job_matches_its_fixture(name: str) -> None:
    assert text_of(name) == (PAGES / f"council-{name}.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("approved", "APPROVED  Round 2 of 3: 6 approve"),
        ("deadlocked", "BLOCKED  deadlock_rounds  Round 3 of 3: 4 approve, 1 revise, 1 absent"),
        ("vetoed", "BLOCKED  veto  Round 1 of 3: 5 approve, 1 veto"),
        ("failed", "FAILED  partial  phase 03: 2 of 3 plans done"),
    ],
)
def test_the_first_line_has_status_round_and_count(name: str, first: str) -> None:
    assert text_of(name).splitlines()[0] == f"j_20260412_0007  {first}"


@pytest.mark.parametrize("name", ["deadlocked", "vetoed"])
def test_degradations_come_before_the_content(name: str) -> None:
    lines = text_of(name).splitlines()
    assert lines[1].startswith("  ! degraded: ")
    assert min(at for at, line in enumerate(lines) if not line) > 1


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_seat_has_one_row_at_any_width(name: str, width: int) -> None:
    rows = [line for line in text_of(name, width).splitlines() if line[2:3] in "✓↻✗∅" and line[2:3]]
    assert [next(seat for seat in SEATS if f" {seat} " in f"{row} ") for row in rows] == list(SEATS)


def test_a_deadlock_shows_both_sides_and_its_age() -> None:
    text = text_of("deadlocked")
    assert "for 3 rounds" in text
    assert "skeptic: a mail server that is down" in text
    assert "synthesiser: declined: the queue of the framework" in text


@pytest.mark.parametrize("code", Blocker)
def test_a_blocked_page_names_three_next_steps(code: Blocker) -> None:
    job = replace(a_full_job(JobStatus.BLOCKED), veto=None, blocker_reason=f"{code}: because")
    text = page(job).partition("What you can do")[2]
    assert [line[:5] for line in text.splitlines() if line[2:3].isdigit()] == [
        "  1. ",
        "  2. ",
        "  3. ",
    ]
    assert f"fairlead job retry {job.id}" in text
    assert "because" in page(job)


@pytest.mark.parametrize(
    ("cap", "caps"),
    [
        ("run_tokens", Caps(run_tokens=1)),
        ("run_usd", Caps(run_usd=1)),
        ("day_tokens", Caps(day_tokens=1)),
        ("day_usd", Caps(day_usd=1)),
    ],
)
def test_the_cap_that_stopped_a_job_is_the_one_to_raise(cap: str, caps: Caps) -> None:
    why = may_spend(Cost(9, 9), Cost(), Cost(), caps)
    job = replace(a_full_job(JobStatus.BLOCKED), veto=None, blocker_reason=f"budget: {why}")
    assert f"fairlead config set fairlead.budget.{cap} …" in page(job)


def test_a_job_ended_by_a_change_does_not_claim_that_nothing_changed() -> None:
    job = replace(a_full_job(JobStatus.BLOCKED), veto=None, blocker_reason="internal: it was")
    assert "no file of the project was changed" not in page(job)


def test_reused_answers_of_a_retry_are_listed_as_reused() -> None:
    line = {"at": NOW, "kind": "reused", "subject": "builder", "text": "raw/r0/builder of j_1"}
    assert "  reused raw/r0/builder of j_1" in page(a_full_job(), journal=json.dumps(line))


@pytest.mark.parametrize("status", JobStatus)
def test_every_status_has_a_page_with_next_steps(status: JobStatus) -> None:
    text = page(CouncilJob("j_1", NOW, "Make it", status=status, status_since=NOW, phase="03"))
    assert text.startswith(f"j_1  {status}")
    assert "fairlead " in text.partition("What you can do")[2]


def test_a_seat_that_was_not_asked_yet_is_not_absent() -> None:
    ballots = tuple(Ballot(1, seat, Vote.APPROVE, SHA, family="gpt") for seat in SEATS[:2])
    job = replace(a_full_job(), review_round=1, cumulative_votes=ballots, council_votes=ballots)
    text = page(replace(job, degraded=()))
    assert text.splitlines()[0].endswith("Round 1 of 3: 2 approve, 4 to come")
    assert "degraded" not in text
    assert text.count("· waiting") + text.count("✓ planned") == 4


def test_a_partial_council_is_never_shown_as_complete() -> None:
    plans = {seat: SeatPlan("…", family="gpt") for seat in SEATS[:3]}
    job = CouncilJob("j_1", NOW, "Make it", status=JobStatus.COUNCIL_PLANNING, council_plans=plans)
    text = page(job)
    assert text.splitlines()[0].endswith("3 of 6 seats have planned")
    assert "3 of 6 seats planned" in text
    assert "degraded" not in text  # the other seats may still answer


def test_a_rehearsed_job_is_marked_at_the_top() -> None:
    text = page(replace(a_full_job(), is_rehearsed=True))
    assert "! rehearsed" in text.partition("\n\n")[0]


def test_text_of_an_agent_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    council_report = SCENES["failed"]()
    ran = replace(council_report.job.exec, stderr_tail="\x1b[2Jgone \u202e\n")
    report(
        {},
        job_page(replace(council_report, job=replace(council_report.job, exec=ran))),
        as_json=False,
    )
    assert "\x1b[2J" not in (text := capsys.readouterr().out)
    assert "\\x1b[2Jgone" in text


@pytest.mark.parametrize("name", SCENES)
def test_the_json_document_has_the_same_facts(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    council_report = SCENES[name]()
    report(council_report, [], as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["headline"] in text_of(name)
    assert document["job"] == json.loads(json.dumps(plain(council_report.job)))
    assert [row["seat"] for row in document["seats"]] == list(SEATS)


def test_a_truncated_journal_is_shown_up_to_its_end() -> None:
    event = {"at": NOW, "kind": "moved", "subject": "j_1", "text": "PM_RUNNING"}
    text = page(a_full_job(), journal=f'{json.dumps(event)}\n"odd"\n{"[" * 200_000}\n{{"at": "2026')
    assert text.count("09:21:44  PM_RUNNING") == 1


def test_an_unchanged_plan_shows_the_ballots_of_the_previous_round() -> None:
    job = replace(
        a_full_job(JobStatus.BLOCKED),
        blocker_reason="deadlock_same_plan: nobody was asked",
        veto=None,
    )
    text = page(job)
    assert text.splitlines()[0].endswith("deadlock_same_plan  Round 1 of 3: 5 approve, 1 revise")
    assert "security-1" in text


def test_the_veto_of_a_person_is_not_shown_as_a_seats() -> None:
    veto = Veto("operator", 1, "", "not this quarter")
    assert "Veto of a person\n  not this quarter" in page(
        replace(a_full_job(JobStatus.BLOCKED), veto=veto)
    )


@pytest.fixture
def saved(tmp_path: Path, fairlead: Fairlead) -> CouncilJob:
    """A job with two versions of its plan, in a project."""
    assert fairlead("init", "Demo", "--yes").exit_code == 0
    job = a_full_job(JobStatus.APPROVED)
    folder = tmp_path / ".planning/jobs" / job.id
    folder.mkdir(parents=True)
    JobFolder(str(tmp_path), job.id).save_record(job)
    for at, plan in enumerate((PLAN, ANSWERED), 1):
        (folder / f"master_plan.v{at}.md").write_text(plan, "utf-8")
    return job


def test_job_show_shows_the_page_of_a_council_job(saved: CouncilJob, fairlead: Fairlead) -> None:
    shown = fairlead("job", "show", saved.id)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith(f"{saved.id}  APPROVED  Round 2 of 3: ")
    document = json.loads(fairlead("job", "show", "--json").stdout)
    assert (document["version"], document["job"]["job_id"]) == (1, saved.id)


def test_job_show_shows_what_a_revision_changed(saved: CouncilJob, fairlead: Fairlead) -> None:
    shown = fairlead("job", "show", saved.id, "--diff")
    assert shown.exit_code == 0
    assert "version 1 → version 2" in shown.stdout
    assert "+| security-1 | changed | step 2 takes the token by POST |" in shown.stdout
    document = json.loads(fairlead("job", "show", saved.id, "--diff", "--json").stdout)
    assert document["plans"] == [PLAN, ANSWERED]


def test_job_list_shows_a_council_job_and_its_degradations(
    saved: CouncilJob, fairlead: Fairlead, tmp_path: Path
) -> None:
    document = json.loads(fairlead("job", "list", "--json").stdout)
    assert [(job["id"], job["kind"], job["status"]) for job in document["jobs"]] == [
        (saved.id, "council", "APPROVED")
    ]
    lacking = replace(saved, degraded=("one family",), is_rehearsed=True)
    JobFolder(str(tmp_path), saved.id).save_record(lacking)
    [listed] = json.loads(fairlead("job", "list", "--json").stdout)["jobs"]
    assert (listed["rehearsed"], listed["degraded"]) == (True, ["one family"])
    assert "rehearsed, degraded" in fairlead("job", "list").stdout


def test_job_cancel_ends_a_council_job(fairlead: Fairlead, tmp_path: Path) -> None:
    assert fairlead("init", "Demo", "--yes").exit_code == 0
    job = CouncilJob("j_20260412_0008", NOW, "Make it")
    JobFolder(str(tmp_path), job.id).save_record(job)
    ended = fairlead("job", "cancel", job.id, "--json")
    document = json.loads(ended.stdout)
    assert (ended.exit_code, document["status"]) == (0, "BLOCKED")
    assert document["blocker_reason"] == "operator_cancel: a person ended it"


def test_a_damaged_record_is_reported_and_other_jobs_are_listed(
    saved: CouncilJob, fairlead: Fairlead, tmp_path: Path
) -> None:
    lost = tmp_path / ".planning/jobs/j_20260101_0001/job.json"
    lost.parent.mkdir()
    lost.write_text('{"kind": "council", ')
    shown = fairlead("job", "list", "--json")
    document = json.loads(shown.stdout)
    assert [job["id"] for job in document["jobs"]] == [saved.id]
    assert [each.partition(":")[0] for each in document["damaged"]] == [
        ".planning/jobs/j_20260101_0001/job.json"
    ]
    assert fairlead("next").exit_code == 0
    assert fairlead("job", "show", "j_20260101_0001").exit_code == 3


def test_the_pictures_match_the_pages() -> None:
    assert list(pictures.stale(pictures.PICTURES)) == []


def test_a_picture_fetches_nothing() -> None:
    for text in pictures.pictures().values():
        assert "url(http" not in text
        assert text.count("http") == 1  # the namespace of SVG


def test_a_stale_picture_is_detected(tmp_path: Path) -> None:
    for name, text in pictures.pictures().items():
        (tmp_path / f"{name}.svg").write_text(text, "utf-8")
    (tmp_path / "council-failed.svg").write_text("<svg/>", "utf-8")
    (tmp_path / "old.svg").write_text("<svg/>", "utf-8")
    assert list(pictures.stale(tmp_path)) == ["council-failed.svg", "old.svg"]


def test_the_page_shows_that_workers_were_trusted_and_that_a_lost_cost_is_unknown() -> None:
    job = Job("execute-04", "04", JobStatus.DONE, NOW, "claude")
    lost = PaidCall("04-01-01", "execute", "claude", "", NOW, 0.0, 0, 0.0, "lost", True)
    paid = (lost, replace(lost, tokens=9, cost_usd=0.5, verdict="approved", is_estimated=False))
    text = "\n".join(
        "".join(part.text if isinstance(part, Styled) else part for part in line).rstrip()
        for line in job_page(JobReport(job, (), (), paid=paid, trusted_verify_runs=1))
    )

    assert "! 1 verify run on merged code took place on workers" in text
    assert "  04-01-01  execute  claude  -  -      -         unknown  lost" in text
    assert "$0.50    approved" in text
