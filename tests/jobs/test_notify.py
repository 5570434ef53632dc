"""Notifications: off by default, from the person's own file, signed, limited, without agent text."""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fairlead.app import App
from fairlead.core.values import replace
from fairlead.jobs.context import JobContext, JobSetup
from fairlead.jobs.model import COUNCIL, Job, JobStatus
from fairlead.jobs.notify.channels import SIGNATURE, TIMESTAMP, post
from fairlead.jobs.notify.errors import NotifyFileOpen, NotifyFileRefused
from fairlead.jobs.notify.model import Notification, NotifyKind, notify_kind
from fairlead.jobs.notify.service import Notifier
from fairlead.jobs.notify.settings import Webhook, load_settings
from fairlead.jobs.roster import Roster
from tests.conftest import Fairlead
from tests.support.execution import LOOK, ExecutionTrial, a_plan, a_project
from tests.support.projects import TickingClock
from tests.support.webhooks import webhook_server

SECRET = "a-secret-of-the-person"
MESSAGE = Notification(
    NotifyKind.WAITS, "execute-1", "execute", "1", "BLOCKED", "harbour", "2026-11-01T12:00:00Z", ""
)
JOB = Job("execute-1", "1", JobStatus.EXECUTING, "2026-11-01T12:00:00Z", "claude")


def configured(folder: Path, mode: int = 0o600, **settings: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "notify.json"
    file.write_text(json.dumps(settings), "utf-8")
    file.chmod(mode)
    return file


def a_notifier(folder: Path) -> Notifier:
    return Notifier(str(folder), "/work/harbour", TickingClock())


def observed(
    notifier: Notifier,
    event: str,
    job: Any = JOB,
    *,
    may_run_commands: bool = False,
    **facts: object,
) -> str:
    return notifier.observe(job, event, facts, may_run_commands=may_run_commands)


@pytest.mark.parametrize(
    ("event", "facts", "kind"),
    [
        ("question", {}, NotifyKind.WAITS),
        ("finished", {"status": "DONE"}, NotifyKind.ENDED),
        ("finished", {"status": "FAILED"}, NotifyKind.FAILED),
        ("finished", {"status": "BLOCKED"}, NotifyKind.WAITS),
        ("moved", {"status": "APPROVED"}, NotifyKind.WAITS),
        ("moved", {"status": "COUNCIL_PLANNING"}, None),
        ("finished", {"status": "odd"}, None),
        ("call", {"status": "DONE"}, None),
        ("answered", {}, None),
    ],
)
def test_a_person_is_told_when_a_job_waits_fails_or_ends(
    event: str, facts: Mapping[str, object], kind: NotifyKind | None
) -> None:
    assert notify_kind(event, facts, may_run_commands=False) == kind


def test_an_approved_plan_that_is_executed_at_once_waits_for_nobody() -> None:
    assert notify_kind("moved", {"status": "APPROVED"}, may_run_commands=True) is None


def test_without_a_file_everything_is_off(tmp_path: Path) -> None:
    assert not load_settings(str(tmp_path)).is_on
    assert observed(a_notifier(tmp_path), "finished", status="DONE") == ""


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    configured(tmp_path, mode, bell=True)

    with pytest.raises(NotifyFileOpen):
        load_settings(str(tmp_path))
    assert "only by you" in observed(a_notifier(tmp_path), "finished", status="DONE")


def test_a_link_is_refused(tmp_path: Path) -> None:
    configured(tmp_path / "elsewhere", bell=True)
    (tmp_path / "notify.json").symlink_to(tmp_path / "elsewhere" / "notify.json")

    with pytest.raises(NotifyFileOpen):
        load_settings(str(tmp_path))


@pytest.mark.parametrize(
    "settings",
    [
        {"dektop": True},
        {"desktop": "yes"},
        {"events": ["sometimes"]},
        {"webhook": {"url": "https://x.example/"}},
        {"webhook": {"url": "https://x.example/", "secret": "short"}},
        {"webhook": {"url": "http://x.example/", "secret": SECRET}},
        {"webhook": {"url": "file:///etc/passwd", "secret": SECRET}},
        {"webhook": {"url": "https://me:pw@x.example/", "secret": SECRET}},
        {"webhook": {"url": "https://x.example:99999/", "secret": SECRET}},
        {"webhook": {"url": "https://x.example/a b", "secret": SECRET}},
        {"webhook": {"url": "https://[x", "secret": SECRET}},
        {"webhook": {"url": "https://x.example/", "secret": SECRET, "more": 1}},
    ],
)
def test_a_file_that_says_something_else_is_refused(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    configured(tmp_path, **settings)

    with pytest.raises(NotifyFileRefused) as refused:
        load_settings(str(tmp_path))
    assert SECRET not in str(refused.value)


def test_a_webhook_gets_a_signed_message() -> None:
    with webhook_server() as server:
        assert post(MESSAGE, Webhook(server.url, SECRET)) == ""

    [request] = server.received
    signed = request.headers[TIMESTAMP].encode() + b"." + request.body
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert request.headers[SIGNATURE] == f"sha256={expected}"
    assert request.path == "/hook?a=1"
    assert json.loads(request.body) == {
        "version": 1,
        "event": "waits",
        "job": "execute-1",
        "kind": "execute",
        "phase": "1",
        "status": "BLOCKED",
        "project": "harbour",
        "at": "2026-11-01T12:00:00Z",
        "command": "",
    }
    assert SECRET.encode() not in request.body


def test_a_redirect_is_not_followed() -> None:
    with webhook_server() as other, webhook_server() as server:
        server.status, server.location = 307, other.url
        fault = post(MESSAGE, Webhook(server.url, SECRET))

    assert "redirect" in fault
    assert other.received == []


def test_a_webhook_that_does_not_answer_is_left_after_the_limit() -> None:
    with webhook_server(is_silent=True) as server:
        fault = post(MESSAGE, Webhook(server.url, SECRET), timedelta(seconds=0.2))

    assert "no answer" in fault


def test_an_answer_that_is_an_error_is_reported() -> None:
    with webhook_server() as server:
        server.status = 500
        assert "500" in post(MESSAGE, Webhook(server.url, SECRET))
    assert post(MESSAGE, Webhook(server.url, SECRET)) != ""  # nobody listens any more


def test_a_job_tells_of_its_question_without_the_text_of_the_agent(
    tmp_path: Path, fairlead: Fairlead, scratch_home: Path
) -> None:
    project = tmp_path / "harbour"
    project.mkdir()
    fairlead("init", "Harbour", "--yes", cwd=project)
    app = App(str(project))
    app.environment().folder(JOB.id).save_record(JOB)
    with webhook_server() as server:
        webhook = {"url": server.url, "secret": SECRET}
        configured(Path(os.environ["XDG_CONFIG_HOME"]) / "fairlead", webhook=webhook)
        context: JobContext[Job] = JobContext(app.environment(), JOB, JobSetup(Roster()))
        context.tell("question", "01-01-01", "AGENT WORDS: which port?", id="asked-1")
        context.tell("finished", JOB.id, "AGENT WORDS", status="BLOCKED")
        context.tell("call", JOB.id, "AGENT WORDS")

    [request] = server.received  # the end that follows from the question is not told again
    message = json.loads(request.body)
    assert b"AGENT WORDS" not in request.body
    assert (message["event"], message["job"], message["project"]) == ("waits", JOB.id, "harbour")
    assert message["command"] == f"fairlead job show {JOB.id}"


def test_an_execution_tells_that_it_waits_and_later_that_it_is_done(tmp_path: Path) -> None:
    with webhook_server() as server:
        settings = tmp_path / "config"
        configured(settings, webhook={"url": server.url, "secret": SECRET})
        project = a_project(tmp_path / "project", a_plan("01-01", "a.txt", extra=LOOK))
        trial = ExecutionTrial(project, observe=a_notifier(settings).observe)
        assert trial.run().job.status is JobStatus.BLOCKED
        trial.answer("approved")
        trial.observe = a_notifier(settings).observe  # the next command is another process
        done = trial.run()

    assert done.job.status is JobStatus.DONE
    announced = [json.loads(each.body) for each in server.received]
    assert [(each["event"], each["job"]) for each in announced] == [
        ("waits", done.job.id),
        ("ended", done.job.id),
    ]


def test_what_could_not_be_sent_is_noted_and_stops_nothing(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    fairlead("init", "Harbour", "--yes", cwd=tmp_path)
    configured(Path(os.environ["XDG_CONFIG_HOME"]) / "fairlead", mode=0o644, bell=True)
    app = App(str(tmp_path))
    app.environment().folder(JOB.id).save_record(JOB)
    context: JobContext[Job] = JobContext(app.environment(), JOB, JobSetup(Roster()))

    context.tell("finished", JOB.id, "", status="DONE")

    [journal] = tmp_path.glob(".planning/jobs/*/events*")
    assert "not notified" in journal.read_text("utf-8")


def test_a_rehearsal_tells_nobody(tmp_path: Path) -> None:
    with webhook_server() as server:
        configured(tmp_path, webhook={"url": server.url, "secret": SECRET})
        notifier = a_notifier(tmp_path)
        assert observed(notifier, "finished", replace(JOB, is_rehearsed=True), status="DONE") == ""

    assert server.received == []


def test_a_job_that_a_person_stops_tells_nobody(tmp_path: Path, fairlead: Fairlead) -> None:
    fairlead("init", "Harbour", "--yes", cwd=tmp_path)
    app = App(str(tmp_path))
    app.environment().folder(JOB.id).save_record(JOB)
    with webhook_server() as server:
        webhook = {"url": server.url, "secret": SECRET}
        configured(Path(os.environ["XDG_CONFIG_HOME"]) / "fairlead", webhook=webhook)
        context: JobContext[Job] = JobContext(app.environment(), JOB, JobSetup(Roster()))
        context.stop.set()
        context.tell("finished", JOB.id, "stopped by a person", status="BLOCKED")

    assert server.received == []


def test_a_council_reports_for_the_execution_of_its_plan(tmp_path: Path) -> None:
    class CouncilRecord:
        id, kind, phase, status, is_rehearsed = "j_1", COUNCIL, "1", "EXECUTING", False

    with webhook_server() as server:
        configured(tmp_path, webhook={"url": server.url, "secret": SECRET})
        notifier = a_notifier(tmp_path)
        observed(notifier, "moved", CouncilRecord(), status="EXECUTING")
        observed(notifier, "finished", status="DONE")
        observed(notifier, "moved", CouncilRecord(), status="DONE")

    assert [json.loads(each.body)["job"] for each in server.received] == ["j_1"]


def test_only_the_chosen_events_are_told(tmp_path: Path) -> None:
    with webhook_server() as server:
        webhook = {"url": server.url, "secret": SECRET}
        configured(tmp_path, webhook=webhook, events=["failed"])
        for status in ("DONE", "BLOCKED", "FAILED"):
            observed(a_notifier(tmp_path), "finished", status=status)

    assert [json.loads(each.body)["event"] for each in server.received] == ["failed"]


def test_the_desktop_gets_the_message_as_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairlead.jobs.notify.channels import show_on_desktop

    log = tmp_path / "log"
    program = tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {log}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    assert show_on_desktop(MESSAGE, "/work/harbour") == ""
    assert log.read_text().splitlines()[-2:] == [
        "Fairlead: harbour",
        "execute-1 waits for you",
    ]
    # A program inside the project is never started.
    assert "no notify-send" in show_on_desktop(MESSAGE, str(tmp_path))


def test_a_project_cannot_switch_anything_on(tmp_path: Path, fairlead: Fairlead) -> None:
    fairlead("init", "Harbour", "--yes", cwd=tmp_path)
    with webhook_server() as server:
        webhook = {"url": server.url, "secret": SECRET}
        configured(tmp_path / ".planning", webhook=webhook, bell=True)
        config = tmp_path / ".planning" / "config.json"
        settings = json.loads(config.read_text("utf-8"))
        settings.setdefault("fairlead", {})["notify"] = {"webhook": webhook, "bell": True}
        config.write_text(json.dumps(settings), "utf-8")
        shown = json.loads(fairlead("notify", "status", "--json", cwd=tmp_path).stdout)
        refused = fairlead("notify", "test", cwd=tmp_path)

    assert shown["is_on"] is False
    assert refused.exit_code == 2
    assert server.received == []


def test_the_commands_test_a_webhook_and_hide_its_secrets(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    with webhook_server() as server:
        webhook = {"url": server.url, "secret": SECRET}
        configured(Path(os.environ["XDG_CONFIG_HOME"]) / "fairlead", webhook=webhook)
        status = fairlead("notify", "status", cwd=tmp_path)
        planned = fairlead("notify", "test", "--dry-run", cwd=tmp_path)
        assert server.received == []
        sent = fairlead("notify", "test", "--json", cwd=tmp_path)
        server.status = 404
        failed = fairlead("notify", "test", cwd=tmp_path)

    assert planned.exit_code == sent.exit_code == 0
    assert json.loads(sent.stdout)["deliveries"] == [
        {"channel": "webhook", "ok": True, "detail": ""}
    ]
    assert failed.exit_code == 5
    for shown in (status, planned, sent, failed):
        assert SECRET not in shown.stdout + shown.stderr
        assert "/hook" not in shown.stdout + shown.stderr


def test_agents_cannot_change_the_file(tmp_path: Path, fairlead: Fairlead) -> None:
    fairlead("init", "Harbour", "--yes", cwd=tmp_path)

    guarded = App(str(tmp_path)).guarded(str(tmp_path))

    assert any(path.endswith("/fairlead/notify.json") for path in guarded)
