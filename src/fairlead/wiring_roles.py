"""Who meets whom for roles and their workflows; apart because `wiring` is a full page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fairlead.values import dataclass
from fairlead.wiring import App, workspace_of

if TYPE_CHECKING:
    from fairlead.engine.asking import Voice
    from fairlead.engine.fanout import Signal
    from fairlead.engine.new_project import NewProjects
    from fairlead.engine.phase_discuss import PhaseDiscussion
    from fairlead.engine.phase_plan import PhasePlanning
    from fairlead.engine.ports import Agent
    from fairlead.engine.role_jobs import RoleJobs
    from fairlead.engine.role_site import Cast, Company
    from fairlead.engine.site import Happening
    from fairlead.model.agent_events import AgentEvent
    from fairlead.model.budget import Spent
    from fairlead.model.job import Question
    from fairlead.model.roles import Role


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options of a command say."""

    agent: str = ""
    model: str = ""
    is_auto: bool = False
    is_rehearsed: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """The person beside a workflow: who sees what happens, answers, and may end it."""

    over: Signal
    report: Callable[[Happening], None] = lambda _: None
    watch: Callable[[str, AgentEvent], None] = lambda _key, _event: None
    person: Callable[[Question], str] = lambda _: ""


def role_jobs(app: App, folder: str = "") -> RoleJobs:
    """The workflows of a project; of this very folder where there is none yet."""
    from fairlead.adapters.chance import fresh
    from fairlead.adapters.scratch import Scratch
    from fairlead.engine.role_jobs import RoleJobs

    place = folder or app.place
    workspace = workspace_of(place)
    return RoleJobs(app.files_of(place), app.state, app.clock, workspace, Scratch(workspace), fresh)


def new_projects(app: App, granularity: str) -> NewProjects:
    """Makes a project in this very folder."""
    from fairlead.engine.new_project import NewProjects

    chosen = granularity or str(app.value("granularity"))
    return NewProjects(role_jobs(app, here_of(app)), chosen)


def here_of(app: App) -> str:
    """This very folder."""
    import os

    return os.path.realpath(app.folder)


def rehearsal_here(app: App) -> App:
    """The same for a private copy of this very folder, which may have no project yet."""
    import os

    from fairlead.adapters.copies import Copies
    from fairlead.engine.rehearsal import private_copy
    from fairlead.store import layout

    copies = Copies(os.path.join(app.state.folder, layout.REHEARSALS), layout.PLANNING)
    return App(private_copy(here_of(app), app.state, copies))


def phase_discussion(app: App) -> PhaseDiscussion:
    """Discusses the phases of the project that this folder belongs to."""
    from fairlead.engine.phase_discuss import PhaseDiscussion
    from fairlead.engine.phase_documents import PhaseDocuments

    documents = PhaseDocuments(*app.step, lines=app.preferences.state_lines)
    return PhaseDiscussion(role_jobs(app), documents)


def phase_planning(app: App) -> PhasePlanning:
    """Plans the phases of the project that this folder belongs to."""
    from fairlead.engine.phase_documents import PhaseDocuments
    from fairlead.engine.phase_plan import PhasePlanning

    documents = PhaseDocuments(*app.step, lines=app.preferences.state_lines)
    return PhasePlanning(role_jobs(app), documents)


def models(app: App, wanted: Wanted) -> dict[str, str]:
    """The model of each role, as far as the settings say it; no agent is looked for."""
    from fairlead.model.roles import ROLES, model_for

    values = {each.key: each.value for each in app.settings.all()}
    agent = wanted.agent or str(values["fairlead.agent"]).removeprefix("auto") or "claude"
    fixed = wanted.model or str(values["fairlead.model"])
    if wanted.is_rehearsed:
        return {}
    return {each.name: fixed or model_for(each, values, agent) for each in ROLES}


def company(
    app: App,
    wanted: Wanted,
    beside: Beside,
    *,
    folder: str = "",
    estimate: Spent | None = None,
) -> Company:
    """Who works for a workflow here, and under which terms."""
    from datetime import timedelta

    from fairlead.adapters import keeper, registry
    from fairlead.adapters.supervision import reap
    from fairlead.engine.role_site import Company
    from fairlead.errors import OnlyRehearses
    from fairlead.model.budget import Caps, Spent
    from fairlead.store import layout

    place = folder or app.place
    values = {each.key: each.value for each in app.settings.all()}
    chosen = wanted.agent or str(values["fairlead.agent"]).removeprefix("auto")
    if chosen == registry.SCRIPTED and not wanted.is_rehearsed:
        raise OnlyRehearses
    name = registry.SCRIPTED if wanted.is_rehearsed else chosen
    agent = registry.agent(name, outside=(place,), commands=app.settings.agents())
    fixed = wanted.model or str(values["fairlead.model"])
    others = "" if wanted.is_rehearsed else str(values["fairlead.fallback"])
    stand_ins: tuple[Voice, ...] = ()
    if others:
        from fairlead.wiring_council import voices_of

        stand_ins = tuple(voices_of(app, others, place=place))
    return Company(
        cast=_casting(agent, fixed or registry.own_model(agent), stand_ins, values),
        caps=Caps.of(values),
        reap=lambda job: reap(keeper.JOB, job),
        report=beside.report,
        watch=beside.watch,
        person=beside.person,
        over=beside.over,
        is_auto=wanted.is_auto,
        is_rehearsed=wanted.is_rehearsed,
        estimate=estimate or Spent(),
        idle=max(
            timedelta(minutes=5), timedelta(minutes=int(str(values["fairlead.idle_minutes"])))
        ),
        guarded=(*app.guarded(place), f"{place}/{layout.CONFIG}"),
        keeps_documents=values["commit_docs"] is True
        and not workspace_of(place).is_ignored(layout.PLANNING),
    )


def _casting(
    agent: Agent, fixed: str, stand_ins: tuple[Voice, ...], values: dict[str, object]
) -> Callable[[Role], Cast]:
    from fairlead.engine.role_site import Cast
    from fairlead.model.roles import model_for

    def cast(role: Role) -> Cast:
        return Cast(agent, fixed or model_for(role, values, agent.name), stand_ins)

    return cast
