"""Debugging: hypotheses are tested one round after another, and a proven cause is fixed.

The session is its file: a round is asked for, written down, and never asked for twice. The fix is
a plan of one task, which lands through the same gate and worktree as any other. Rounds end after
three further tries, and earlier when a debugger wants to do the same thing again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from fairlead.engine.look import Look, Steps, editing
from fairlead.engine.quick import Hands, Quick, QuickTask
from fairlead.engine.role_calls import Ask, Given, RoleCalls
from fairlead.engine.role_jobs import Errand, Outcome, RoleJobs, RoleReport
from fairlead.engine.role_site import Company, RoleSite, Wish, asked
from fairlead.errors import UnknownSession
from fairlead.model.budget import Spent, estimate
from fairlead.model.job import JobStatus, Question
from fairlead.model.roles import role
from fairlead.records.debug_file import (
    DebugFile,
    Round,
    knowledge_entry,
    new_session,
    read_round,
    read_session,
    with_resolution,
    with_round,
    with_status,
)
from fairlead.records.plan_sheet import read_plan
from fairlead.records.quick import Repair, quick_id, repair_plan, require_quick
from fairlead.store import layout_daily
from fairlead.store.files import Draft, Files
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass, replace

_Change = Callable[[Document, datetime], Document]
_ROUNDS = 4  # the first, and three that follow by themselves
_SAME = 2  # times that the next step stayed what it was
_LONGEST_NAME = 30
_CHARACTERS = 6000  # of a prompt, as a rule
_GO_ON, _STOP = "continue", "stop"
_DIAGNOSE = "Find the cause only, and prove it. Propose the fix in words; change nothing."
_FIX = (
    "Find the cause and say exactly how to fix it: the files, the change, and one command that "
    "fails now and succeeds when it is fixed. Change nothing yourself: another agent does it."
)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, and how far."""

    name: str
    text: str = ""
    symptoms: Mapping[str, str] | None = None
    is_diagnosis: bool = False  # the cause only
    goes_on: bool = False  # a person wants further rounds

    @property
    def path(self) -> str:
        """Its file while it is open."""
        return layout_daily.debug_path(self.name)


class _Abandoned(Exception):
    """A person ends a search."""


class Debugging(Steps):
    """The debug sessions of one project."""

    def __init__(self, files: Files, roles: RoleJobs, quick: Quick) -> None:
        super().__init__(files, roles.clock)
        self._roles = roles
        self._quick = quick

    # -- looking --------------------------------------------------------------------------

    def all(self) -> tuple[DebugFile, ...]:
        """Every session, the open ones first; reading changes nothing."""
        found = []
        for home in (layout_daily.DEBUG, layout_daily.DEBUG_RESOLVED):
            for name in self._files.names(home):
                path = f"{home}/{name}"
                loaded = self._files.load_for_display(path) if name.endswith(".md") else None
                if loaded and path != layout_daily.KNOWLEDGE:
                    found.append(read_session(path, loaded.text))
        return tuple(sorted(found, key=lambda each: not each.is_open))

    def one(self, name: str) -> DebugFile:
        """A session by its name."""
        known = self.all()
        for each in known:
            if each.slug == name:
                return each
        raise UnknownSession(name, tuple(each.slug for each in known if each.is_open))

    def new(self, text: str, symptoms: Mapping[str, str], *, is_diagnosis: bool) -> Search:
        """A name for a new session; nothing is written yet."""
        told = one_line(text, "the text")
        stem = layout_daily.short_slug(told, "fault", _LONGEST_NAME)
        taken = {each.slug for each in self.all()}
        name = next(
            each
            for each in (stem, *(f"{stem[: _LONGEST_NAME - 4]}-{at}" for at in range(2, 999)))
            if each not in taken
        )
        return Search(name, text, {"actual": told, **symptoms}, is_diagnosis)

    def estimate(self, search: Search) -> Spent:
        """What a search will probably take: two rounds, and the fix where one is wanted."""
        names = (
            "debugger",
            "debugger",
            *(() if search.is_diagnosis else ("executor", "architect")),
        )
        return sum((estimate(name, _CHARACTERS + len(search.text)) for name in names), Spent())

    # -- searching ------------------------------------------------------------------------

    def carry_out(self, search: Search, company: Company, hands: Hands) -> RoleReport:
        """Search, and fix what was found; or go on where it was left."""
        command = f"fairlead debug continue {search.name}"
        errand = Errand("debug", search.name, command, search.text)

        def work(site: RoleSite) -> Outcome:
            over = self._files.load_if_present(layout_daily.debug_path(search.name, resolved=True))
            if over and not self._files.exists(search.path):  # nothing is searched for twice
                return Outcome(note=read_session(over.path, over.text).root_cause)
            self._begun(search)
            try:
                found = self._searched(site, search)
            except _Abandoned:
                return Outcome(JobStatus.FAILED, "a person ended the search", (search.path,))
            if isinstance(found, Outcome):
                return found
            if search.is_diagnosis:
                self._edit(search, lambda held, now: with_status(held, "diagnosed", now))
                told = f"docs(debug): the cause of {search.name}"
                return Outcome(note=found.root_cause, written=(search.path,), message=told)
            return self._fixed(site, search, found, hands)

        return self._roles.run(errand, company, work)

    def _begun(self, search: Search) -> None:
        if not self._files.exists(search.path):
            text = new_session(search.text, search.symptoms or {}, self._clock.now())
            self._files.create_all({search.path: text}, command=f"debug {search.name}")

    def _searched(self, site: RoleSite, search: Search) -> Round | Outcome:
        """Rounds until the cause is known, or nothing new is tried."""
        last, same, before = self._last_round(site, search), 0, ""
        found = self._held(site, last)
        if last and not (found and found.is_solved):
            self._may_go_on(site, search, last)
        for number in range(last + 1, last + 1 + _ROUNDS):
            if found and found.is_solved:
                break
            reply = self._asked(site, search, number)
            if isinstance(reply, str):
                note = f"the debugger cannot go on: {reply}"
                return Outcome(JobStatus.BLOCKED, note, is_over=False)
            found, last = reply, number
            mark = f"{site.job.id}/{number}"
            self._edit(search, lambda held, now: with_round(held, reply, mark, now))  # noqa: B023
            same = same + 1 if found.next_action == before else 0
            before = found.next_action
            if same >= _SAME:
                break
        if found and found.is_solved:
            return found
        # Nobody is asked in the same breath: the file is there to be read first.
        self._may_go_on(_answered_by(site, lambda _: ""), replace(search, goes_on=False), last)
        return Outcome(JobStatus.BLOCKED, "the cause is not known yet", is_over=False)

    def _last_round(self, site: RoleSite, search: Search) -> int:
        """The last round of this job that stands in the file."""
        held = self._session(search).rounds
        job, _, number = held.rpartition("/")
        return int(number) if job == site.job.id and number.isdigit() else 0

    def _held(self, site: RoleSite, number: int) -> Round | None:
        call = site.jobs.load_call(f"round-{number}") if number else None
        return read_round(call.answer) if call and call.is_ok else None

    def _asked(self, site: RoleSite, search: Search, number: int) -> Round | str:
        """What a round came to, or why it came to nothing."""
        held = self._held(site, number)
        if held is not None:
            return held  # it was answered, and not written down before the end
        text = self._files.load(search.path).text
        known = self._files.load_for_display(layout_daily.KNOWLEDGE)
        words = {
            "session": search.name,
            "round": str(number),
            "goal": _DIAGNOSE if search.is_diagnosis else _FIX,
        }
        pieces = {"session": text, "knowledge": known.text if known else ""}
        ask = Ask(role("debugger"), f"round-{number}", pieces, words)

        def read(given: Given) -> Round:
            found = read_round(given.answer)
            if found.is_solved and not search.is_diagnosis:  # it has to be one that can be done
                require_quick(
                    read_plan(search.path, repair_plan(search.name, _repair(search, found)))
                )
            return found

        reply = RoleCalls(site).call(ask, read)
        return reply.note if reply.value is None else reply.value

    def _may_go_on(self, site: RoleSite, search: Search, number: int) -> None:
        """A person decides whether further rounds are paid for; who asked for them has decided."""
        told = self._session(search).next_action or "nothing"
        text = f"the cause is not known after {number} rounds; next: {told}. Go on?"
        wish = Wish(f"rounds-{number}", text, (_GO_ON, _STOP))
        person = (lambda _: _GO_ON) if search.goes_on else site.company.person
        answer = asked(_answered_by(site, person), wish)
        if answer == _STOP:
            self._edit(search, lambda held, now: with_status(held, "abandoned", now))
            raise _Abandoned

    # -- fixing ---------------------------------------------------------------------------

    def _fixed(self, site: RoleSite, search: Search, found: Round, hands: Hands) -> Outcome:
        self._edit(search, lambda held, now: with_status(held, "fixing", now))
        name = quick_id(datetime.fromisoformat(site.job.started_at))
        title = f"Fix: {one_line(self._session(search).trigger)}"[:80]
        task = QuickTask(name, layout_daily.quick_folder(name, f"fix-{search.name}"), title)
        if not self._files.exists(task.plan):
            self._quick.write_plan(site, task, repair_plan(task.name, _repair(search, found)))
        sheet = read_plan(task.plan, self._files.load(task.plan).text)
        done = self._quick.executed(site, task, sheet, hands)
        if done.status is not JobStatus.DONE:
            return done
        self._edit(search, lambda held, now: with_status(held, "awaiting_human_verify", now))
        text = f"{found.verify!r} succeeds now. Is the fault gone?"
        if asked(site, Wish("verified", text, ("yes", "no"), policy="yes")) == "no":
            self._edit(search, lambda held, now: with_status(held, "investigating", now))
            return Outcome(JobStatus.FAILED, "a person says that the fault is still there")
        paths = self._resolved(search, found)
        told = f"docs(debug): {search.name} is resolved"
        return Outcome(note=found.root_cause, written=(*paths, *done.written), message=told)

    def _resolved(self, search: Search, found: Round) -> tuple[str, ...]:
        """What was learnt is kept, then the file goes to the resolved ones."""
        target = layout_daily.debug_path(search.name, resolved=True)

        def resolved(held: Document, now: datetime) -> Document:
            told = with_resolution(
                held,
                root_cause=found.root_cause,
                fix=found.fix,
                verification=one_line(found.verify),
                files_changed=", ".join(found.files),
            )
            return with_status(told, "resolved", now)

        self._edit(search, resolved)
        session = self._session(search)

        def decide(look: Look) -> Draft:
            knows = {
                layout_daily.KNOWLEDGE: lambda text: knowledge_entry(
                    text, session, found.files, look.now
                )
            }
            places = Places(moves=(Move(search.path, target),))
            return Draft(knows, places, frozenset((layout_daily.KNOWLEDGE,)))

        self._step(f"debug {search.name}", decide, dry_run=False)
        return target, layout_daily.KNOWLEDGE

    # -- the file -------------------------------------------------------------------------

    def _session(self, search: Search) -> DebugFile:
        return read_session(search.path, self._files.load(search.path).text)

    def _edit(self, search: Search, change: _Change) -> None:
        now = self._clock.now()
        self._files.update(
            search.path,
            editing(lambda held: change(held, now)),
            command=f"debug {search.name}",
        )


def _answered_by(site: RoleSite, person: Callable[[Question], str]) -> RoleSite:
    return replace(site, company=replace(site.company, person=person))


def _repair(search: Search, found: Round) -> Repair:
    title = f"Fix {search.name}"
    done = f"the cause is gone: {found.root_cause}"
    return Repair(title, found.fix or found.root_cause, found.files, found.verify, done)
