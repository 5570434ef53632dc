"""The pages of council jobs: what a person sees at a glance, held word for word."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.engine.council_report import council_report
from fairlead.interfaces.cli.council_pages import council_page
from fairlead.interfaces.cli.show import Styled, report
from fairlead.model.budget import Caps, Spent, may_spend
from fairlead.model.council import Blocker
from fairlead.model.council_job import Ballot, CouncilJob, SeatPlan, Veto, Vote
from fairlead.model.job import JobStatus
from fairlead.model.plain import plain
from fairlead.store.jobs import JobFiles
from tests.conftest import Fairlead
from tests.support.council import NOW, SEATS, SHA, a_full_job
from tests.support.council_scenes import ANSWERED, PLAN, SCENES
from tools import pictures

PAGES = Path(__file__).parent / "pages"


def text_of(name: str, width: int = 100) -> str:
    lines = council_page(SCENES[name](), width)
    told = (
        "".join(part.text if isinstance(part, Styled) else part for part in line) for line in lines
    )
    return "".join(f"{line.rstrip()}\n" for line in told)


def page(job: CouncilJob, **more: str) -> str:
    lines = council_page(council_report(job, **more))  # type: ignore[arg-type]
    return "\n".join(
        "".join(part if isinstance(part, str) else part.text for part in line) for line in lines
    )


@pytest.mark.parametrize("name", SCENES)
def test_the_page_of_a_job_says_what_it_said_before(name: str) -> None:
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
def test_what_the_council_lacked_stands_above_the_content(name: str) -> None:
    lines = text_of(name).splitlines()
    assert lines[1].startswith("  ! degraded: ")
    assert min(at for at, line in enumerate(lines) if not line) > 1


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_seat_has_one_row_at_any_width(name: str, width: int) -> None:
    rows = [line for line in text_of(name, width).splitlines() if line[2:3] in "✓↻✗∅" and line[2:3]]
    assert [next(seat for seat in SEATS if f" {seat} " in f"{row} ") for row in rows] == list(SEATS)


def test_a_deadlock_shows_both_sides_and_how_long_it_lasts() -> None:
    told = text_of("deadlocked")
    assert "for 3 rounds" in told
    assert "skeptic: a mail server that is down" in told
    assert "synthesiser: declined: the queue of the framework" in told


@pytest.mark.parametrize("code", Blocker)
def test_a_blocked_page_names_three_things_that_one_can_do(code: Blocker) -> None:
    job = replace(a_full_job(JobStatus.BLOCKED), veto=None, blocker_reason=f"{code}: because")
    told = page(job).partition("What you can do")[2]
    assert [line[:5] for line in told.splitlines() if line[2:3].isdigit()] == [
        "  1. ",
        "  2. ",
        "  3. ",
    ]
    assert f"fairlead job retry {job.id}" in told
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
    why = may_spend(Spent(9, 9), Spent(), Spent(), caps)
    job = replace(a_full_job(JobStatus.BLOCKED), veto=None, blocker_reason=f"budget: {why}")
    assert f"fairlead config set fairlead.budget.{cap} …" in page(job)


def test_a_job_that_ended_because_something_was_changed_does_not_say_that_nothing_was() -> None:
    job = replace(a_full_job(JobStatus.BLOCKED), veto=None, blocker_reason="internal: it was")
    assert "no file of the project was changed" not in page(job)


def test_what_a_retry_kept_is_told_with_a_verb() -> None:
    line = {"at": NOW, "kind": "reused", "subject": "builder", "text": "raw/r0/builder of j_1"}
    assert "  reused raw/r0/builder of j_1" in page(a_full_job(), journal=json.dumps(line))


@pytest.mark.parametrize("status", JobStatus)
def test_every_status_has_a_page_with_something_to_do(status: JobStatus) -> None:
    told = page(CouncilJob("j_1", NOW, "Make it", status=status, status_since=NOW, phase="03"))
    assert told.startswith(f"j_1  {status}")
    assert "fairlead " in told.partition("What you can do")[2]


def test_who_was_not_heard_yet_is_neither_absent_nor_missing() -> None:
    ballots = tuple(Ballot(1, seat, Vote.APPROVE, SHA, family="gpt") for seat in SEATS[:2])
    job = replace(a_full_job(), review_round=1, cumulative_votes=ballots, council_votes=ballots)
    told = page(replace(job, degraded=()))
    assert told.splitlines()[0].endswith("Round 1 of 3: 2 approve, 4 to come")
    assert "degraded" not in told
    assert told.count("· waiting") + told.count("✓ planned") == 4


def test_a_partial_council_is_never_promised_as_more() -> None:
    plans = {seat: SeatPlan("…", family="gpt") for seat in SEATS[:3]}
    job = CouncilJob("j_1", NOW, "Make it", status=JobStatus.COUNCIL_PLANNING, council_plans=plans)
    told = page(job)
    assert told.splitlines()[0].endswith("3 of 6 seats have planned")
    assert "3 of 6 seats planned" in told
    assert "degraded" not in told  # the others may still come


def test_a_rehearsed_job_says_so_above_everything() -> None:
    told = page(replace(a_full_job(), is_rehearsed=True))
    assert "! rehearsed" in told.partition("\n\n")[0]


def test_what_an_agent_wrote_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    found = SCENES["failed"]()
    ran = replace(found.job.exec, stderr_tail="\x1b[2Jgone \u202e\n")
    report({}, council_page(replace(found, job=replace(found.job, exec=ran))), as_json=False)
    assert "\x1b[2J" not in (told := capsys.readouterr().out)
    assert "\\x1b[2Jgone" in told


@pytest.mark.parametrize("name", SCENES)
def test_the_json_says_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = SCENES[name]()
    report(found, [], as_json=True)
    held = json.loads(capsys.readouterr().out)
    assert held["headline"] in text_of(name)
    assert held["job"] == json.loads(json.dumps(plain(found.job)))
    assert [row["seat"] for row in held["seats"]] == list(SEATS)


def test_a_journal_that_a_crash_cut_off_is_shown_as_far_as_it_goes() -> None:
    event = {"at": NOW, "kind": "moved", "subject": "j_1", "text": "PM_RUNNING"}
    told = page(a_full_job(), journal=f'{json.dumps(event)}\n"odd"\n{"[" * 200_000}\n{{"at": "2026')
    assert told.count("09:21:44  PM_RUNNING") == 1


def test_a_plan_that_came_back_unchanged_shows_the_ballots_of_the_round_before() -> None:
    job = replace(
        a_full_job(JobStatus.BLOCKED),
        blocker_reason="deadlock_same_plan: nobody was asked",
        veto=None,
    )
    told = page(job)
    assert told.splitlines()[0].endswith("deadlock_same_plan  Round 1 of 3: 5 approve, 1 revise")
    assert "security-1" in told


def test_the_veto_of_a_person_is_not_taken_for_that_of_a_seat() -> None:
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
    JobFiles(str(tmp_path), job.id).save_job(job)
    for at, plan in enumerate((PLAN, ANSWERED), 1):
        (folder / f"master_plan.v{at}.md").write_text(plan, "utf-8")
    return job


def test_job_show_shows_the_page_of_a_council_job(saved: CouncilJob, fairlead: Fairlead) -> None:
    shown = fairlead("job", "show", saved.id)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith(f"{saved.id}  APPROVED  Round 2 of 3: ")
    held = json.loads(fairlead("job", "show", "--json").stdout)
    assert (held["version"], held["job"]["job_id"]) == (1, saved.id)


def test_job_show_shows_what_a_revision_changed(saved: CouncilJob, fairlead: Fairlead) -> None:
    shown = fairlead("job", "show", saved.id, "--diff")
    assert shown.exit_code == 0
    assert "version 1 → version 2" in shown.stdout
    assert "+| security-1 | changed | step 2 takes the token by POST |" in shown.stdout
    held = json.loads(fairlead("job", "show", saved.id, "--diff", "--json").stdout)
    assert held["plans"] == [PLAN, ANSWERED]


def test_job_list_lists_a_council_job_and_what_it_lacked(
    saved: CouncilJob, fairlead: Fairlead, tmp_path: Path
) -> None:
    held = json.loads(fairlead("job", "list", "--json").stdout)
    assert [(each["id"], each["kind"], each["status"]) for each in held["jobs"]] == [
        (saved.id, "council", "APPROVED")
    ]
    lacking = replace(saved, degraded=("one family",), is_rehearsed=True)
    JobFiles(str(tmp_path), saved.id).save_job(lacking)
    [found] = json.loads(fairlead("job", "list", "--json").stdout)["jobs"]
    assert (found["rehearsed"], found["degraded"]) == (True, ["one family"])
    assert "rehearsed, degraded" in fairlead("job", "list").stdout


def test_job_cancel_ends_a_council_job(fairlead: Fairlead, tmp_path: Path) -> None:
    assert fairlead("init", "Demo", "--yes").exit_code == 0
    job = CouncilJob("j_20260412_0008", NOW, "Make it")
    JobFiles(str(tmp_path), job.id).save_job(job)
    ended = fairlead("job", "cancel", job.id, "--json")
    held = json.loads(ended.stdout)
    assert (ended.exit_code, held["status"]) == (0, "BLOCKED")
    assert held["blocker_reason"] == "operator_cancel: a person ended it"


def test_a_damaged_record_is_named_and_hides_no_other_job(
    saved: CouncilJob, fairlead: Fairlead, tmp_path: Path
) -> None:
    lost = tmp_path / ".planning/jobs/j_20260101_0001/job.json"
    lost.parent.mkdir()
    lost.write_text('{"kind": "council", ')
    shown = fairlead("job", "list", "--json")
    held = json.loads(shown.stdout)
    assert [each["id"] for each in held["jobs"]] == [saved.id]
    assert [each.partition(":")[0] for each in held["damaged"]] == [
        ".planning/jobs/j_20260101_0001/job.json"
    ]
    assert fairlead("next").exit_code == 0
    assert fairlead("job", "show", "j_20260101_0001").exit_code == 3


def test_the_pictures_are_in_step_with_the_pages() -> None:
    assert list(pictures.stale(pictures.PICTURES)) == []


def test_a_picture_fetches_nothing() -> None:
    for text in pictures.pictures().values():
        assert "url(http" not in text
        assert text.count("http") == 1  # the name of the format


def test_a_picture_that_is_out_of_step_is_noticed(tmp_path: Path) -> None:
    for name, text in pictures.pictures().items():
        (tmp_path / f"{name}.svg").write_text(text, "utf-8")
    (tmp_path / "council-failed.svg").write_text("<svg/>", "utf-8")
    (tmp_path / "old.svg").write_text("<svg/>", "utf-8")
    assert list(pictures.stale(tmp_path)) == ["council-failed.svg", "old.svg"]
