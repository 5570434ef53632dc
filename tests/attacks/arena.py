"""The arena of an attack: a project with a person's home around it, runs in it, and what they left.

Runs are real: the same services as `phase execute`, with git, worktrees and verify commands. Only
the agents are functions of the attack. Every run is judged in the same way, whatever the attack:
what landed, what counts, which programs ran, where secrets went, and what the person is shown.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents import supervisor
from fairlead.agents.model import AgentCall, CallLimits, CallResult, EndKind
from fairlead.agents.supervision import Launch, SupervisorPool, supervise
from fairlead.execution.commands import command_fault
from fairlead.execution.model import ExecutionReport
from fairlead.execution.service import Execution
from fairlead.jobs.context import JobEnvironment, RunOptions
from fairlead.jobs.model import JobStatus, QuestionKind
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING
from tests.conftest import Outcome, run_in_process
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    PlanText,
    SteppingClock,
    a_plan,
    a_project,
    environment_of,
)
from tests.support.repositories import git, written

PHASE, OTHER_PHASE = ".planning/phases/01-work", ".planning/phases/02-more"
SUMMARY, PLAN = f"{PHASE}/01-01-SUMMARY.md", f"{PHASE}/01-01-PLAN.md"
OTHER_SUMMARY, OTHER_PLAN = f"{OTHER_PHASE}/02-01-SUMMARY.md", f"{OTHER_PHASE}/02-01-PLAN.md"
RIGHT, WRONG = "42\n", "41\n"  # what the verify command accepts, and what it does not
CHECK = "grep -q 42 answer.txt\n"
FORGED_SUMMARY = "---\nphase: 02-more\nplan: 01\nstatus: complete\n---\n\n# Forged by an agent\n"
# Anything but line breaks and tabs that a terminal would obey.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029]")

Harm = Callable[["Arena"], object]
Offer = Callable[[Harm], Harm]  # a decorator that adds an attack with this harm to the table
Weaken = Callable[[JobEnvironment], JobEnvironment]
Answer = Mapping[str, object] | CallResult


@dataclass(slots=True)
class Trial(ExecutionTrial):
    """A run whose private state is the person's own, so that commands see the same jobs."""

    weaken: Weaken = lambda environment: environment

    @property
    def state(self) -> Files:
        """The user's own state folder."""
        return Files(f"{os.environ['XDG_STATE_HOME']}/fairlead", staging=USER_STAGING)

    @property
    def execution(self) -> Execution:
        """The execution service of the project."""
        environment = environment_of(self.project, self.state, self.clock, self._new_token)
        environment = self.weaken(environment)
        return Execution(environment, command_fault, setup=self.options.setup)


@dataclass(slots=True)
class Arena:
    """Where one attack takes place."""

    folder: Path
    patch: pytest.MonkeyPatch
    weaken: Weaken = lambda environment: environment
    main: Path = field(init=False)  # the main tree
    home: Path = field(init=False)  # of the person
    base: str = field(init=False)  # the commit that the branch is at before the attack
    place: Path = field(init=False)  # the worktree of the agent that acts
    call: AgentCall = field(init=False)  # its call
    trial: Trial = field(init=False)
    report: ExecutionReport = field(init=False)
    is_supervised: bool = True  # False: programs of agents are started without a supervisor
    helpers: tuple[str, ...] = ()  # scripts that honest work needs besides `answer.txt`

    def __post_init__(self) -> None:
        self.main = self.folder / "project"
        self.home = self.folder / "home"
        for kind in ("config", "data", "state", "cache"):
            self.patch.setenv(f"XDG_{kind.upper()}_HOME", str(self.home / f".{kind}"))
        self.patch.setenv("HOME", str(self.home))
        self.home.mkdir(parents=True)
        written(self.outside / "file", "untouched\n")
        written(self.canary, f"#!/bin/sh\ntouch {self.folder}/ran\ncat\n")
        self.canary.chmod(0o755)

    @property
    def outside(self) -> Path:
        """A folder that belongs to nobody here."""
        return self.folder / "outside"

    @property
    def canary(self) -> Path:
        """A program that leaves a trace when it runs."""
        return self.folder / "programs/canary"

    # -- projects --------------------------------------------------------------------------

    def project(
        self,
        *,
        verify: str = "sh check.sh",
        files: Mapping[str, str] | None = None,
        declared: Sequence[str] = (),
        plans: Sequence[PlanText] = (),
        options: RunOptions | None = None,
    ) -> None:
        """A project whose first plan is done when `answer.txt` says 42; a second phase waits."""
        first = PlanText("01-01", [("answer.txt", verify)], files=declared)
        a_project(self.main, first, *plans)
        roadmap = self.main / ".planning/ROADMAP.md"
        text = roadmap.read_text().replace(
            "- [ ] **Phase 1: Work**", "- [ ] **Phase 1: Work**\n- [ ] **Phase 2: More**"
        )
        written(roadmap, text + "\n### Phase 2: More\n**Goal**: It works better\n")
        written(self.main / OTHER_PLAN, a_plan("02-01", "b.txt").text)
        for name, content in {"check.sh": CHECK, **(files or {})}.items():
            written(self.main / name, content)
        git(self.main, "add", "--all", "--force")
        git(self.main, "commit", "-qm", "the project")
        self.trial = Trial(self.main, clock=SteppingClock(60), weaken=self.weaken)
        self.trial.options = options or RunOptions()
        self.base = git(self.main, "rev-parse", "main")

    # -- runs ------------------------------------------------------------------------------

    def run(
        self,
        harm: Harm,
        *,
        content: str = RIGHT,
        result: Mapping[str, object] | None = None,
        review: Callable[[Arena], Answer] | None = None,
        once: bool = False,
    ) -> ExecutionReport:
        """Execute the phase; the executor writes `answer.txt` and does its harm.

        With `review` the reviewer answers so; with `once` only the first attempt attacks.
        """

        def act(order: AgentCall, number: int) -> Answer:
            self.place, self.call = Path(order.folder), order
            if order.is_read_only:
                return review(self) if review else approval()
            written(self.place / "answer.txt", content)
            if number == 1 or not once:
                harm(self)
            return {**success(), **(result or {})}

        self.trial.agent = FakeAgent(act)
        self.report = self.trial.run()
        return self.report

    def run_with(self, act: Callable[[Arena], Answer]) -> ExecutionReport:
        """Execute the phase with an executor that answers so, and does nothing else."""

        def answer(order: AgentCall, _: int) -> Answer:
            self.place, self.call = Path(order.folder), order
            return approval() if order.is_read_only else act(self)

        self.trial.agent = FakeAgent(answer)
        self.report = self.trial.run()
        return self.report

    def run_program(self, script: str) -> ExecutionReport:
        """Execute the phase with a real program under a supervisor, which runs a shell script.

        The reviewer, and the answer that claims success, come from the test.
        """
        program = ScriptedProgram(self.folder, script, is_supervised=self.is_supervised)

        def act(order: AgentCall, _: int) -> Answer:
            self.place, self.call = Path(order.folder), order
            if order.is_read_only:
                return approval()
            program.run(order)
            return success()

        self.trial.agent = FakeAgent(act)
        self.report = self.trial.run()
        return self.report

    def left_processes(self) -> list[str]:
        """The processes of agents that still run in a worktree."""
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdecimal():
                with suppress(OSError):
                    if str(self.home) in os.readlink(process / "cwd"):
                        found.append(process.name)
        return found

    def run_honestly(self) -> ExecutionReport:
        """Go on with agents that behave."""

        def helps(arena: Arena) -> None:
            for name in arena.helpers:
                written(arena.place / name, "exit 0\n")

        return self.run(helps)

    def command(self, *words: str, env: Mapping[str, str] | None = None, text: str = "") -> Outcome:
        """A command of the person, in this process."""
        return run_in_process(words, self.main, text, env or {})

    def scripted_agent(self) -> None:
        """Configure the scripted program as the person's agent, for commands that need one."""
        argv = [sys.executable, "-m", "fairlead.agents.scripted.program"]
        agents = {"agent": "stub", "agents": {"stub": {"argv": argv, "stream": "claude"}}}
        written(self.home / ".config/fairlead/config.json", json.dumps({"fairlead": agents}))

    # -- judgement -------------------------------------------------------------------------

    @property
    def question(self) -> str:
        """The texts of all open questions."""
        return "\n".join(each.text for each in self.report.questions if not each.answer)

    @property
    def landed(self) -> list[str]:
        """The files outside the memory that the branch has got since the beginning."""
        names = (
            "diff",
            "--name-only",
            "--no-renames",
            "-z",
            self.base,
            "main",
            "--",
            ":!.planning",
        )
        return [name for name in git(self.main, *names).split("\0") if name]

    @property
    def records(self) -> str:
        """Everything that a run records in the project, as text."""
        parts = []
        for above, _, names in os.walk(self.main / ".planning"):
            for name in sorted(names):
                path = Path(above) / name
                if path.is_file() and not path.is_symlink():
                    parts.append(path.read_text("utf-8", "replace"))
        return "\n".join(parts)

    def expect_verify_failure(self) -> None:
        """The work is wrong, the verify command says so, and nothing landed."""
        assert self.report.job.status is JobStatus.BLOCKED, self.report.job.status
        assert "ended with" in self.question or "verify" in self.question, self.question
        self.expect_nothing_landed()

    def expect_nothing_landed(self) -> None:
        """The branch has no new file, and no plan counts as done."""
        assert self.landed == []
        self.expect_done(0)
        self.expect_unharmed()

    def expect_asked(
        self,
        *named: str,
        restored: Sequence[str] = (),
        moves: bool = False,
        goes_on: bool = True,
    ) -> None:
        """The person is asked about what was touched; `reject` restores it, and the job goes on.

        `moves`: the attack moved a branch or HEAD, which stays until the person has answered.
        """
        self.expect_no_program()
        kinds = {each.kind for each in self.report.questions}
        assert self.report.job.status is JobStatus.BLOCKED, self.report.job.status
        assert QuestionKind.TOUCHED in kinds, (kinds, self.question)
        for name in named:
            assert name in self.question, self.question
        if moves:
            assert "answer.txt" not in self.landed
        else:
            self.expect_nothing_landed()
        self.trial.answer("reject")
        self.expect_done(0)
        for path in restored:
            assert not os.path.lexists(self.main / path), path
        if not goes_on:
            return
        self.run_honestly()
        self.expect_landed("answer.txt", *self.helpers)

    def expect_landed(self, *paths: str) -> None:
        """Exactly these files landed, and the first plan counts as done."""
        assert self.report.job.status is JobStatus.DONE, self.question
        assert sorted(self.landed) == sorted(paths)
        self.expect_done(1)
        self.expect_unharmed()

    def expect_done(self, count: int) -> None:
        """So many plans count in `status`."""
        shown = self.command("status", "--json")
        assert shown.exit_code == 0, shown
        counted = json.loads(shown.stdout)["progress"]["completed_plans"]
        assert counted == count, f"{counted} plans count as done"

    def expect_unharmed(self) -> None:
        """No planted program ran, nothing outside changed, and the person sees no raw control."""
        self.expect_no_program()
        assert (self.outside / "file").read_text() == "untouched\n"
        assert sorted(os.listdir(self.outside)) == ["file"]
        assert git(self.main, "symbolic-ref", "HEAD") == "refs/heads/main"
        for words in (("status",), ("job", "list"), ("job", "show")):
            self.expect_visible(*words)

    def expect_no_program(self) -> None:
        """No planted program ran."""
        assert not (self.folder / "ran").exists(), "a planted program ran"

    def expect_visible(self, *words: str) -> None:
        """A command shows no character that a terminal would obey."""
        shown = self.command(*words)
        assert not _CONTROL.search(shown.stdout + shown.stderr), (words, shown)

    def expect_no_trace_of(self, *secrets: str) -> None:
        """No secret is in a record, a prompt or a commit of the branch."""
        prompts = "\n".join(order.prompt for order in self.trial.agent.orders)
        history = git(self.main, "log", "-p", "--format=%B", "main", "--", ".planning")
        for secret in secrets:
            assert secret not in self.records, "in a record"
            assert secret not in prompts, "in a prompt"
            assert secret not in history, "in a commit"


class ScriptedProgram:
    """A custom agent, started as the product starts one: a shell script under a supervisor."""

    def __init__(self, folder: Path, script: str, *, is_supervised: bool) -> None:
        self._is_supervised = is_supervised
        self._script = folder / "programs/agent.sh"
        written(self._script, f"{script}\nexec 1>&-\n")
        self._supervisors = SupervisorPool()

    def run(self, order: AgentCall) -> None:
        """Run the script in the worktree of a call, to its end and that of its processes."""
        limits = CallLimits(wall=timedelta(minutes=1), after_end=timedelta(0))
        marks = {supervisor.JOB: order.job, supervisor.CALL: order.session, supervisor.DEPTH: "1"}
        if not self._is_supervised:
            words = ["/bin/sh", str(self._script)]
            subprocess.run(words, cwd=order.folder, check=True, stdin=subprocess.DEVNULL)
            return
        launch = Launch(
            words=("/bin/sh", str(self._script)),
            folder=order.folder,
            environment={"PATH": os.environ["PATH"], **marks},
            raw="",
            limits=limits,
            call=order.session,
            is_private=False,
            is_brief=True,
        )
        supervise(launch, _Unread(), lambda: True, self._supervisors)


class _Unread:
    """Output that nobody reads."""

    is_done = False

    def on_output(self, data: bytes) -> bool:
        return True

    def on_errors(self, data: bytes) -> None:
        return

    def on_sleep(self, seconds: float) -> None:
        return


def end_jobs(arena: Arena, status: str) -> None:
    """Give every job a status, in the repository and in the person's private folder."""
    for path in (
        *arena.folder.glob("**/proofs/job.json"),
        *arena.main.glob(".planning/jobs/*/job.json"),
    ):
        written(path, re.sub(r'"status": "[A-Z_]+"', f'"status": "{status}"', path.read_text()))


def success() -> dict[str, object]:
    """A claim of success."""
    return {"status": "success", "done_criteria_met": True, "evidence": "made", "error": None}


def approval() -> dict[str, object]:
    """An approving verdict."""
    return {"verdict": "APPROVED", "confidence": "high"}


def said(text: str) -> CallResult:
    """A reply of an agent, word for word."""
    return CallResult(EndKind.OK, text, exit_code=0)
