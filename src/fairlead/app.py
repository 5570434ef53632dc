"""The composition root: builds the services for one project folder.

Each service is imported when a command first uses it, so that a short command loads little.
"""

from __future__ import annotations

import os
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from fairlead.core.user_folders import (
    CLAUDE_SETTINGS,
    CODEX_HOOKS,
    HOST_SETTINGS,
    NOTIFY_SETTINGS,
    cache_folder,
    host_folder,
    user_folder,
)
from fairlead.jobs.overview_sources import done_tasks, ledger_entries, unchecked_proofs
from fairlead.jobs.paths import JOBS, approvals_path
from fairlead.planphase.paths import find_plan_home
from fairlead.store import layout
from fairlead.store.configuration import Preferences, Settings, SettingsFile
from fairlead.store.reader import Reader
from fairlead.store.staging import STAGING, USER_STAGING, staging_of, user_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairlead.agents.budget import Cost
    from fairlead.agents.custom_agents import CustomAgent
    from fairlead.agents.discovery import AgentDiscovery
    from fairlead.agents.model import CommandPermissions
    from fairlead.cluster.service import Cluster
    from fairlead.core.clock import Clock
    from fairlead.council.context import CouncilRun, PlanExecution
    from fairlead.council.service import Council
    from fairlead.execution.rehearsal import Rehearsals
    from fairlead.execution.service import Execution
    from fairlead.jobs.context import (
        AgentChoice,
        Cancellation,
        EventSink,
        JobEnvironment,
        JobSetup,
        RunOptions,
    )
    from fairlead.jobs.detached import DetachedJob, JobRequest
    from fairlead.jobs.kinds import JobKinds
    from fairlead.jobs.ledger import LedgerCheck
    from fairlead.jobs.model import Question
    from fairlead.jobs.notify.service import Notifier
    from fairlead.jobs.roster import AgentDirectory, Roster
    from fairlead.jobs.service import Jobs
    from fairlead.planphase.approval import PlanApproval
    from fairlead.planphase.service import ExecPhase, Planning
    from fairlead.plans.roadmap_report import Roadmaps
    from fairlead.project.events import Events
    from fairlead.project.health.doctor import Doctor
    from fairlead.project.memory import Memory
    from fairlead.project.milestones import Milestones
    from fairlead.project.overview import Overview
    from fairlead.project.phases import Phases
    from fairlead.project.sessions import Sessions
    from fairlead.store.digests import FileCache
    from fairlead.store.files import Files, WriteOutcome
    from fairlead.vcs.git import Git
    from fairlead.vcs.in_place import InPlace
    from fairlead.verification.service import ModelReviewer, Verifier
    from fairlead.workflows.capture import Captures
    from fairlead.workflows.debug import Debugging
    from fairlead.workflows.discuss import PhaseDiscussion
    from fairlead.workflows.new import NewProjects
    from fairlead.workflows.pause import Pausing
    from fairlead.workflows.phase_documents import PhaseDocuments
    from fairlead.workflows.plan import PhasePlanning
    from fairlead.workflows.quick import QuickTasks
    from fairlead.workflows.service import Workflows

_HOST_COMMAND = "fairlead.council.host_command"


class App:
    """The services of one project folder, each built on first use."""

    cache: FileCache | None = None  # of a server, which answers many questions

    def __init__(
        self, folder: str, workstream: str = "", *, patience_seconds: float | None = None
    ) -> None:
        self.folder = folder
        self.cluster: Cluster | None = None  # while calls run on workers
        self._named = workstream
        self._patience_seconds = patience_seconds  # None: as the settings say

    @cached_property
    def settings(self) -> Settings:
        """The settings that hold in this folder; outside a project, the person's own."""
        inside = self.is_read_only
        user = SettingsFile(
            user_folder(), layout.USER_CONFIG, USER_STAGING, inside, validators=_VALIDATORS
        )
        home = layout.nearest_folder(self.folder, layout.has_project)
        make = partial(SettingsFile, is_read_only=inside, validators=_VALIDATORS)
        project = make(home, layout.CONFIG) if home else None
        return Settings(user, project, self._check_new_setting)

    def _check_new_setting(self, key: str, value: object) -> None:
        from fairlead.jobs.setting_checks import check_agent_names

        check_agent_names(key, value, self.custom_agents)

    @cached_property
    def memory(self) -> Memory:
        """The memory of the project that this folder belongs to."""
        return self._memory(self._project_files, self._workstream)

    @cached_property
    def overview(self) -> Overview:
        """A look at the project that this folder belongs to."""
        from fairlead.planphase.overview_sources import exec_phase_source, plan_phase_source
        from fairlead.project.overview import Overview, OverviewSources

        # A project that never ran a job does not load the packages of jobs.
        jobs = lambda reader: self.jobs.unsettled() if reader.names(JOBS) else ()  # noqa: E731
        phases = plan_phase_source, exec_phase_source
        sources = OverviewSources(*phases, ledger_entries, jobs, done_tasks)
        reader = Reader(self.place, self.cache, unchecked_proofs)
        if not self.is_copy:
            return Overview(reader, sources)
        from fairlead.execution.rehearsal import as_rehearsed

        return Overview(reader, sources, lambda found: as_rehearsed(reader, found))

    def ledgers(self, workstream: str = "") -> LedgerCheck:
        """Check the ledgers of all plans without running anything."""
        from fairlead.jobs.ledger import check_ledgers

        return check_ledgers(Reader(self.place), self.overview.comparison(workstream).inventory)

    @cached_property
    def doctor(self) -> Doctor:
        """Examines and repairs the project that this folder belongs to."""
        from fairlead.project.health.doctor import Doctor

        return Doctor(self._project_files, self.clock)

    @cached_property
    def agent_discovery(self) -> AgentDiscovery:
        """The agents of this machine."""
        from fairlead.agents.discovery import AgentDiscovery

        home = layout.nearest_folder(self.folder, layout.has_project)
        cache = os.path.join(cache_folder(), "agents.json")
        return AgentDiscovery(self.custom_agents(), (home,) if home else (), cache)

    def custom_agents(self) -> tuple[CustomAgent, ...]:
        """The agents and models that the user describes in their own settings."""
        from fairlead.agents.custom_agents import custom_agents

        return self.settings.read_personal(custom_agents)

    @property
    def undo_files(self) -> Files:
        """The documents whose last changes can be undone; after a reset, those of its folder."""
        folder = self.plan_home
        if not os.path.isdir(os.path.join(folder, staging_of(folder))):
            folder = layout.find_project(self.folder)
        return self.files_of(folder, staging_of(folder))

    @cached_property
    def planning(self) -> Planning:
        """The Plan Phase of the nearest folder that has one, or of this very folder."""
        from fairlead.planphase.service import Planning, ProcessChecker

        return Planning(self._plan_files, self.state, self.clock, ProcessChecker())

    @cached_property
    def plan_home(self) -> str:
        """The nearest folder that has a plan or a project; else this very folder."""
        return find_plan_home(self.folder) or os.path.realpath(self.folder)

    @cached_property
    def approval(self) -> PlanApproval:
        """Approves the plan of the nearest folder that has one."""
        from fairlead.planphase.approval import PlanApproval
        from fairlead.vcs.github import GitHub

        return PlanApproval(
            self._plan_files,
            self.clock,
            GitHub(self.plan_home, seconds=self.preferences.github_seconds),
            private=self.state,
            wait_seconds=self.preferences.lock_wait_seconds,
        )

    @cached_property
    def exec_phase(self) -> ExecPhase:
        """The modules of an approved plan of the nearest folder that has them."""
        from fairlead.planphase.service import ExecPhase

        return ExecPhase(self._plan_files, self.clock)

    def register_driver(self, *, dry_run: bool) -> WriteOutcome:
        """Tell git which documents of this project our driver merges."""
        from fairlead.merge.service import register_driver

        return register_driver(self._project_files, dry_run=dry_run)

    @property
    def is_in_repository(self) -> bool:
        """Whether this folder belongs to a git repository."""
        return bool(layout.repository_of(self.folder))

    @cached_property
    def events(self) -> Events:
        """Records what happens in the project that this folder belongs to."""
        from fairlead.project.events import Events

        return Events(*self.step, lines=self.preferences.state_lines)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions and gates of the project that this folder belongs to."""
        from fairlead.project.sessions import Sessions

        return Sessions(*self.step)

    @cached_property
    def phases(self) -> Phases:
        """Changes the phases of the project that this folder belongs to."""
        from fairlead.project.phases import Phases

        return Phases(*self.step)

    @cached_property
    def milestones(self) -> Milestones:
        """Changes the milestones of the project that this folder belongs to."""
        from fairlead.project.milestones import Milestones

        return Milestones(*self.step)

    @cached_property
    def roadmaps(self) -> Roadmaps:
        """Looks at the roadmap of the project that this folder belongs to."""
        from fairlead.plans.roadmap_report import Roadmaps

        return Roadmaps(Reader(self.place, self.cache, unchecked_proofs), self._workstream)

    @property
    def step(self) -> tuple[Files, Clock, str]:
        """What every step of this project takes."""
        return self._project_files, self.clock, self._workstream

    @property
    def place(self) -> str:
        """The folder of the project."""
        return layout.find_project(self.folder)

    @cached_property
    def workspace(self) -> Git | InPlace:
        """The project as git sees it, asked once; or the folder itself."""
        from fairlead.vcs.copies import workspace_of

        return workspace_of(self.place)

    def environment(self, folder: str = "") -> JobEnvironment:
        """What jobs work with, in this project or in another folder."""
        from fairlead.core.clock import random_token
        from fairlead.jobs.context import JobEnvironment
        from fairlead.vcs.copies import ScratchFolders, workspace_of

        place, observe = folder or self.place, self.notifier.observe
        workspace = workspace_of(place) if folder else self.workspace
        files, scratch = self.files_of(place), ScratchFolders(workspace)
        return JobEnvironment(
            files, self.state, self.clock, workspace, scratch, random_token, observe
        )

    @cached_property
    def notifier(self) -> Notifier:
        """Tells the person about jobs, as their own file says."""
        from fairlead.jobs.notify.service import Notifier

        return Notifier(user_folder(), self.plan_home, self.clock)

    @cached_property
    def execution(self) -> Execution:
        """Carries out the phases of the project that this folder belongs to."""
        from fairlead.execution.commands import command_fault
        from fairlead.execution.service import Execution

        setup = str(self.value("fairlead.execution.setup"))
        return Execution(self.environment(), command_fault, self._branching, setup)

    @property
    def _branching(self) -> str:
        """The name that the settings give the branch of a run; empty: the one that is there."""
        strategy = str(self.value("git.branching_strategy"))
        is_named = strategy in ("phase", "milestone")
        return str(self.value(f"git.{strategy}_branch_template")) if is_named else ""

    @cached_property
    def jobs(self) -> Jobs:
        """The jobs of the project that this folder belongs to."""
        from fairlead.core.clock import sleep_briefly
        from fairlead.jobs.service import Jobs

        parts = (self.files_of(self.place), self.state, self.clock, sleep_briefly, self.job_kinds)
        return Jobs(*parts, is_copy=self.is_copy, end_calls=self._end_cluster_calls)

    def _end_cluster_calls(self, jobs: tuple[str, ...]) -> None:
        from fairlead.cluster.service import ClusterProject, end_calls

        end_calls(ClusterProject.of(self), jobs)

    def start_job(self, request: JobRequest) -> DetachedJob:
        """Start a job in the background, for a host, a server or a board; return when it began."""
        from fairlead.jobs.detached import start_detached
        from fairlead.store.errors import InsideAttempt

        words = request.words()
        if self.is_read_only:
            raise InsideAttempt(" ".join(("fairlead", *words[:2])))
        return start_detached(self.here, words)

    @cached_property
    def job_kinds(self) -> JobKinds:
        """Every kind of job, each as its package defines it."""
        from fairlead.jobs.kinds import JobKind, JobKinds
        from fairlead.jobs.model import COUNCIL, EXECUTE

        def execution() -> JobKind[Any]:
            from fairlead.execution.service import execution_kind

            return execution_kind(lambda: self.workspace, lambda: self.keeps_documents)

        def council() -> JobKind[Any]:
            from fairlead.council.service import council_kind

            return council_kind(lambda: self.council)

        return JobKinds({EXECUTE: execution, COUNCIL: council})

    @property
    def keeps_documents(self) -> bool:
        """Whether the documents of this project are committed as they are written."""
        is_wanted = self.value("commit_docs") is True
        return is_wanted and not self.workspace.is_ignored(layout.PLANNING)

    @cached_property
    def council(self) -> Council:
        """The council of the project that this folder belongs to."""
        from fairlead.council.service import Council

        return Council(self.environment(), self.execution)

    def workflows(self, folder: str = "") -> Workflows:
        """The workflows of the project, or of a folder that has none yet."""
        from fairlead.workflows.service import Workflows

        return Workflows(self.environment(folder))

    def new_projects(self, granularity: str) -> NewProjects:
        """Makes a project in this very folder."""
        from fairlead.workflows.new import NewProjects

        chosen = granularity or str(self.value("granularity"))
        return NewProjects(self.workflows(self.here), chosen)

    @property
    def phase_documents(self) -> PhaseDocuments:
        """The documents that workflows write for a phase."""
        from fairlead.workflows.phase_documents import PhaseDocuments

        return PhaseDocuments(*self.step, lines=self.preferences.state_lines)

    @property
    def phase_discussion(self) -> PhaseDiscussion:
        """Discusses the phases of the project."""
        from fairlead.workflows.discuss import PhaseDiscussion

        return PhaseDiscussion(self.workflows(), self.phase_documents)

    @property
    def phase_planning(self) -> PhasePlanning:
        """Plans the phases of the project."""
        from fairlead.workflows.plan import PhasePlanning

        return PhasePlanning(self.workflows(), self.phase_documents)

    @property
    def captures(self) -> Captures:
        """Keeps the ideas of the project."""
        from fairlead.workflows.capture import Captures

        return Captures(*self.step, lines=self.preferences.state_lines)

    @property
    def pausing(self) -> Pausing:
        """Pauses and resumes the project."""
        from fairlead.workflows.pause import Pausing

        return Pausing(*self.step, jobs=self.jobs)

    @property
    def quick_tasks(self) -> QuickTasks:
        """The quick tasks of the project."""
        from fairlead.execution.commands import command_fault
        from fairlead.workflows.quick import QuickExecution, QuickTasks

        workflows = self.workflows()
        execution = QuickExecution(workflows.environment, command_fault)
        return QuickTasks(workflows.files, workflows, execution)

    @property
    def debugging(self) -> Debugging:
        """The debug sessions of the project."""
        from fairlead.workflows.debug import Debugging

        return Debugging(self.files_of(self.place), self.workflows(), self.quick_tasks)

    @property
    def verifier(self) -> Verifier:
        """Verifies the phases of the project."""
        from fairlead.execution.commands import Shell, command_fault
        from fairlead.verification.service import Verifier

        files, clock, stream = self.step
        return Verifier(files, self.state, clock, self.workspace, Shell(), command_fault, stream)

    def model_review(self, setup: JobSetup) -> ModelReviewer:
        """An agent that looks at a phase besides the rules; it can only add findings."""
        from fairlead.verification.model_review import ModelReview

        return ModelReview(self.workflows(), setup, self._workstream).ask

    def uncommitted(self) -> tuple[str, ...]:
        """The changed paths outside .planning; nothing where there is no git."""
        from fairlead.core.errors import AgentError

        try:
            return self.workspace.dirty_paths(layout.PLANNING)
        except AgentError:
            return ()

    @cached_property
    def values(self) -> dict[str, object]:
        """Every setting that holds here, by its full name."""
        return {each.key: each.value for each in self.settings.all()}

    def agents(self, folder: str = "") -> AgentDirectory:
        """Finds the agents that work here; programs inside the project are never used."""
        if self.cluster is not None:
            return self.cluster.agents
        from fairlead.jobs.roster import AgentDirectory

        return AgentDirectory(folder or self.place, self.values, self.custom_agents())

    def execution_roster(
        self, agent: str, reviewer: str, *, model: str = "", is_rehearsed: bool
    ) -> Roster:
        """Who executes plans and reviews the work."""
        from fairlead.execution.commands import Shell

        return self.agents().execution_roster(
            agent, reviewer, Shell, model=model, is_rehearsed=is_rehearsed
        )

    def execution_options(self, *, model: str, slots: int | None, is_rehearsed: bool) -> RunOptions:
        """How an execution runs here."""
        from fairlead.jobs.context import execution_options

        return execution_options(
            self.values,
            model=model,
            slots=slots,
            is_rehearsed=is_rehearsed,
            keeps_documents=self.keeps_documents,
            guarded=self.guarded(self.place),
            commands=self._commands_of(self.place),
        )

    def found_commands(self) -> tuple[str, ...]:
        """The test and build commands that the files in this very folder announce."""
        from fairlead.execution.permissions import found_commands

        return found_commands(Reader(self.here))

    def _commands_of(self, place: str) -> CommandPermissions:
        """What agents that work on the project's files may run."""
        from fairlead.execution.permissions import project_permissions

        return project_permissions(Reader(place), self.values)

    def workflow_setup(
        self,
        choice: AgentChoice,
        events: EventSink,
        cancellation: Cancellation,
        person: Callable[[Question], str] = lambda _: "",
        *,
        folder: str = "",
        estimate: Cost | None = None,
    ) -> JobSetup:
        """Who works for a workflow here, and how."""
        from fairlead.jobs.context import JobSetup, workflow_options
        from fairlead.vcs.copies import workspace_of
        from fairlead.workflows.roles import role_roster

        place = folder or self.place
        is_ignored = workspace_of(place).is_ignored(layout.PLANNING)
        options = workflow_options(
            self.values,
            is_auto=choice.is_auto,
            is_rehearsed=choice.is_rehearsed,
            keeps_documents=self.values["commit_docs"] is True and not is_ignored,
            guarded=(*self.guarded(place), f"{place}/{layout.CONFIG}"),
            commands=self._commands_of(place),
            estimate=estimate,
        )
        roster = role_roster(self.agents(folder), choice)
        return JobSetup(roster, options, events, cancellation, person)

    def council_run(self, *, is_rehearsed: bool, is_preview: bool = False) -> CouncilRun:
        """Who sits in a council here, and how it works; without anybody who executes its plan."""
        from fairlead.council.context import (
            CouncilRun,
            council_options,
            council_roster,
            own_host_command,
        )
        from fairlead.jobs.context import JobSetup, workflow_options

        common = workflow_options(
            self.values, is_rehearsed=is_rehearsed, guarded=self.guarded(self.place)
        )
        command = self.settings.get(_HOST_COMMAND)
        options = council_options(self.values, own_host_command(command), is_rehearsed=is_rehearsed)
        roster = council_roster(self.agents(), is_rehearsed=is_rehearsed, is_preview=is_preview)
        return CouncilRun(JobSetup(roster, common), options)

    def plan_execution(self, agent: str, reviewer: str, *, is_rehearsed: bool) -> PlanExecution:
        """Who carries out the plan that a council approves."""
        from fairlead.council.context import PlanExecution, has_host_commands, host_faults
        from fairlead.jobs.roster import EXECUTOR

        roster = self.execution_roster(agent, reviewer, is_rehearsed=is_rehearsed)
        options = self.execution_options(model="", slots=None, is_rehearsed=is_rehearsed)
        host = roster.agent(EXECUTOR)
        faults = host_faults(
            host.name,
            has_commands=has_host_commands(
                os.path.join(self.place, ".claude"), host_folder("claude")
            ),
            is_custom=host.name in {each.name for each in self.custom_agents()},
            origin=self.settings.get(_HOST_COMMAND).origin,
        )
        return PlanExecution(roster, options, host=host, host_faults=faults)

    def guarded(self, place: str) -> tuple[str, ...]:
        """Files that no agent may change: settings of this program and of hosts, and approvals."""
        return (
            *(os.path.join(user_folder(), each) for each in (layout.USER_CONFIG, NOTIFY_SETTINGS)),
            os.path.join(self.state.folder, approvals_path(place)),
            *map(user_step, (user_folder(), self.state.folder)),
            *(os.path.join(place, each) for each in HOST_SETTINGS),
            os.path.join(host_folder("claude"), CLAUDE_SETTINGS),
            os.path.join(host_folder("codex"), CODEX_HOOKS),
        )

    @property
    def here(self) -> str:
        """This very folder, which may have no project yet."""
        return os.path.realpath(self.folder)

    @cached_property
    def rehearsals(self) -> Rehearsals:
        """The copies in which this user rehearses projects."""
        from fairlead.execution.rehearsal import Rehearsals
        from fairlead.project.state.documents import moment
        from fairlead.vcs.copies import RehearsalCopies, workspace_of

        copies = RehearsalCopies(f"{self.state.folder}/{layout.REHEARSALS}", layout.PLANNING)
        now = lambda: moment(self.clock.now())  # noqa: E731
        running_job = lambda folder: App(folder).jobs.running_job()  # noqa: E731
        return Rehearsals(self.state, copies, workspace_of, now, running_job)

    @cached_property
    def is_copy(self) -> bool:
        """Whether this folder lies in the copy of a rehearsal; most load nothing to say no."""
        return f"/{layout.REHEARSALS}/" in self.here and self.rehearsals.contains(self.here)

    @property
    def rehearsed_project(self) -> str:
        """The folder that a rehearsal here is about; it may have no project yet."""
        return self.rehearsals.project_at(self.here)

    def rehearsal(self, folder: str = "") -> tuple[App, bool]:
        """The copy to rehearse in, and whether it was made anew from changed documents."""
        if self.is_copy:
            return self, False
        if not folder and self.found_rehearsal() is None:
            folder = self.place  # refused where there is no project
        copy, is_anew = self.rehearsals.open(folder or self.rehearsed_project)
        return App(copy, self._named), is_anew

    def found_rehearsal(self) -> App | None:
        """The copy of a rehearsal that has begun; None: there is none."""
        found = None if self.is_copy else self.rehearsals.find(self.rehearsed_project)
        return self if self.is_copy else App(found.folder, self._named) if found else None

    def rehearse_here(self) -> None:
        """Refuse to rehearse beside anything real; keep what is there, to take it back."""
        if not self.is_copy:
            self.rehearsals.begin_here(self.here, self._named)

    @cached_property
    def state(self) -> Files:
        """The person's own folder of what this program remembers."""
        from fairlead.planphase.facts import state_folder_of
        from fairlead.store.files import Files

        return Files(
            state_folder_of(os.environ),
            staging=USER_STAGING,
            wait_seconds=self.preferences.lock_wait_seconds,
            is_read_only=self.is_read_only,
        )

    @cached_property
    def clock(self) -> Clock:
        """The clock; a server may set another one."""
        from fairlead.core.clock import SystemClock

        return SystemClock()

    @cached_property
    def _plan_files(self) -> Files:
        return self.files_of(self.plan_home, staging_of(self.plan_home))

    def value(self, key: str) -> object:
        """What a setting says here."""
        return self.settings.get(key).value

    def new_memory(self) -> Memory:
        """The memory of a project that does not exist yet, in this very folder."""
        return self._memory(self.files_of(os.path.realpath(self.folder)), "")

    @cached_property
    def preferences(self) -> Preferences:
        """What this program goes by here."""
        return self.settings.preferences()

    def _memory(self, files: Files, workstream: str) -> Memory:
        from fairlead.project.memory import Memory

        return Memory(files, self.clock, workstream, lines=self.preferences.state_lines)

    @cached_property
    def _project_files(self) -> Files:
        return self.files_of(layout.find_project(self.folder), is_run=False)

    @cached_property
    def _workstream(self) -> str:
        """The workstream that is meant, where a project has several memories."""
        return self._project_files.workstream(self._named)

    def files_of(self, folder: str, staging: str = STAGING, *, is_run: bool = True) -> Files:
        """The documents below a folder."""
        from fairlead.store.files import Files

        patience = self._patience_seconds
        return Files(
            folder,
            staging=staging,
            wait_seconds=self.preferences.lock_wait_seconds if patience is None else patience,
            allow_shared=self.preferences.shared_disk,
            is_read_only=self.is_read_only,
            cache=self.cache,
            unchecked=None if is_run else unchecked_proofs,  # a run checks each call itself
        )

    @cached_property
    def is_read_only(self) -> bool:
        """Whether an agent runs the command inside its attempt, where nothing may be written."""
        return layout.is_attempt(self.folder) or layout.is_started_by_run(self.folder)


def _check_setting(key: str, value: object) -> None:
    from fairlead.jobs.setting_checks import check_setting

    check_setting(key, value)


_VALIDATORS = dict.fromkeys(
    ("fairlead.agents.", "fairlead.models.", "fairlead.provider_slots"), _check_setting
)
