"""Planning: the Plan Phase of one folder, from its goal to a plan that can be approved.

Every change is one transaction under the project's lock, decided from what stands in the file at
that moment. Commands that criteria name are run here and nowhere else: only when a person has
allowed their hash, and outside the lock; what came of them is kept private to that person.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

from fairlead.engine.planning_report import PlanReport, report_of
from fairlead.engine.ports import Checker, Clock
from fairlead.engine.templates import filled
from fairlead.errors import (
    CheckFailed,
    EmptyText,
    Located,
    NeedsPerson,
    NoDocument,
    NoPlanPhase,
    NoProject,
    PartProtected,
    PlanExists,
    PlanUnready,
)
from fairlead.model import planning as words
from fairlead.model.criteria import (
    Facts,
    Judgement,
    command_hash,
    content_hash,
    evaluate,
    is_personal,
    quoted,
    unready,
)
from fairlead.model.planning import Criterion, Plan
from fairlead.records import plan_file
from fairlead.records.plan_read import read_plan
from fairlead.store import exchange, layout
from fairlead.store.facts import facts_of
from fairlead.store.files import Draft, Files, Outcome
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.text.emit import scalar_text
from fairlead.text.visible import visible
from fairlead.values import dataclass

Change = Callable[[Document], Document]

_IGNORING = frozenset(
    [layout.PLAN_IGNORED, ".claude", ".claude/", ".claude/*", "*.local.md", ".claude/*.local.md"]
)
_SHOWN_HASH = len("sha256:") + 12
_SAID = 200  # characters of a failed command's last line


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a plan begins with."""

    goal: str
    requirements: str = layout.PLAN_REQUIREMENTS
    session: str = ""  # of the host; the stop hook holds this one only
    has_ignore: bool = True


class Planning:
    """The Plan Phase of one folder."""

    def __init__(self, files: Files, private: Files, clock: Clock, checker: Checker) -> None:
        self._files = files
        self._private = private  # of the person, outside of the folder
        self._clock = clock
        self._checker = checker

    # -- looking ----------------------------------------------------------------------------

    def plan(self) -> Plan:
        """The plan as it stands."""
        loaded = self._files.load_if_present(layout.PLAN_FILE)
        if loaded is None:
            raise NoPlanPhase(layout.PLAN_FILE)
        with Located(layout.PLAN_FILE):
            return read_plan(loaded.text)

    def facts(self, plan: Plan, *, strict: bool = True) -> Facts:
        """What the disk says about a plan."""
        return facts_of(self._files.folder, plan, self._private.folder, strict=strict)

    def report(self) -> PlanReport:
        """The plan with each criterion judged."""
        plan = self.plan()
        return report_of(plan, self.facts(plan, strict=False))

    # -- changing ---------------------------------------------------------------------------

    def start(self, beginning: Beginning, *, dry_run: bool = False) -> tuple[str, Outcome]:
        """Begin a plan: exclusively, since of several that begin at once only one may."""
        now = self._clock.now()
        plan_id = f"plan-{now:%Y%m%d-%H%M%S}"
        text = _first_text(beginning, plan_id, now)

        def create(_: str) -> str:
            if self._files.exists(layout.PLAN_FILE):
                raise PlanExists(layout.PLAN_FILE)
            return text

        edits: dict[str, Callable[[str], str]] = {layout.PLAN_FILE: create}
        if beginning.has_ignore:
            edits[layout.GIT_IGNORE] = _ignoring
        document = beginning.requirements
        if document == layout.PLAN_REQUIREMENTS and not self._files.exists(document):
            first = requirements_text(words.DEFAULT_SECTIONS)
            edits[document] = lambda held: held or first
        front.prepare()
        outcome = self._files.update_all(
            edits, command="planning start", may_create=True, dry_run=dry_run
        )
        return plan_id, outcome

    def change(self, command: str, change: Change, *, dry_run: bool = False) -> Outcome:
        """Change the plan file by one of the edits of `records.plan_file`."""
        front.prepare()
        try:
            return self._files.update(
                layout.PLAN_FILE,
                lambda text: change(Document(text)).text,
                command=f"planning {command}",
                dry_run=dry_run,
            )
        except (NoDocument, NoProject):
            # Told only now: under the lock an interrupted reset was completed first.
            raise NoPlanPhase(layout.PLAN_FILE) from None

    def review(self, *, dry_run: bool = False) -> Outcome:
        """Say that the plan is complete and to be looked at; everything open is told at once."""

        def change(document: Document) -> Document:
            plan = read_plan(document.text)
            reviewed = plan_file.reviewed(document)
            faults = unready(plan, self.facts(plan))
            if faults:
                raise PlanUnready(plan.plan_id, tuple(faults))
            return reviewed

        return self.change("review", change, dry_run=dry_run)

    def release(self, *, dry_run: bool = False) -> Outcome:
        """Let the session go that the plan holds, until the plan is changed."""
        now = _stamp(self._clock.now())
        return self.change(
            "release", lambda document: plan_file.released(document, now), dry_run=dry_run
        )

    def reopen(self, *, dry_run: bool = False) -> Outcome:
        """Void the approval and go back to drafting."""
        return self.change("reset", plan_file.reopened, dry_run=dry_run)

    def reset(self, *, has_backup: bool, dry_run: bool = False) -> Outcome:
        """Put the plan aside, and the exec file with it; an unreadable one too."""
        stamp = f"{self._clock.now():%Y%m%d-%H%M%S}"

        def decide() -> Draft:
            held = [
                path for path in (layout.PLAN_FILE, layout.EXEC_FILE) if self._files.exists(path)
            ]
            moves = tuple(Move(path, self._aside(path, stamp, has_backup)) for path in held)
            return Draft({}, Places(moves=moves))

        if not decide().places:
            return Outcome(())
        return self._files.carry_out(decide, command="planning reset", dry_run=dry_run)

    def _aside(self, path: str, stamp: str, has_backup: bool) -> str:
        number = 1
        while True:
            tail = stamp if number == 1 else f"{stamp}-{number}"
            backup = layout.plan_backup(path, tail)
            target = backup if has_backup else layout.removed_path(path, tail, self._files.desk)
            if not self._files.exists(target):
                return target
            number += 1

    # -- confirming -------------------------------------------------------------------------

    def criterion(self, name: str) -> Judgement:
        """One criterion, judged."""
        plan = self.plan()
        return evaluate(plan, self.facts(plan))[plan_file.criterion_at(plan, name)]

    def confirm(
        self, name: str, *, is_said: bool, allow: str = "", dry_run: bool = False
    ) -> Outcome:
        """Meet a criterion: by a person's word, or by running the command that a person allowed."""
        judged = self.criterion(name)
        criterion = judged.criterion
        if criterion.command:
            return self._run(criterion, name, allow, dry_run=dry_run)
        if not is_personal(self.plan(), criterion):
            raise PartProtected(
                "confirm", repr(criterion.text), "the files decide it", judged.command
            )
        if not is_said:
            raise NeedsPerson(
                f"{criterion.text!r} has to be confirmed by a person",
                f"fairlead planning confirm {quoted(name)} --yes",
            )
        now = _stamp(self._clock.now())

        def change(document: Document) -> Document:
            plan = read_plan(document.text)
            at = plan_file.criterion_at(plan, criterion.text)
            content = content_hash(plan, self.facts(plan).requirements)
            return plan_file.confirmed(document, at, content, now)

        return self.change("confirm", change, dry_run=dry_run)

    def _run(self, criterion: Criterion, name: str, allow: str, *, dry_run: bool) -> Outcome:
        plan = self.plan()
        facts = self.facts(plan)
        command = command_hash(criterion.command)
        shown = " ".join(map(quoted, criterion.command))
        is_named = len(allow) >= _SHOWN_HASH and command.startswith(allow)
        if command not in facts.allowed and not is_named:
            raise NeedsPerson(
                f"nobody has allowed this command yet: {shown}",
                f"fairlead planning confirm {quoted(name)} --allow {command[:_SHOWN_HASH]}",
                command,
            )
        if dry_run:
            return Outcome(())
        exchange.prepare()  # what the command does is done, whatever fails after it
        began = _stamp(self._clock.now())
        code, said = self._checker.run(criterion.command, self._files.folder)
        result = {
            "command": list(criterion.command),
            "code": code,
            "at": began,
            "head": facts.head,
            "plan": content_hash(plan, facts.requirements),
        }
        self._remember(command, began, result)
        if code:
            raise CheckFailed(shown, f"ended with {code}", said[:_SAID])
        return Outcome(())

    def _remember(self, command: str, now: str, result: dict[str, object]) -> None:
        folder = self._files.folder

        def edit(text: str) -> str:
            held = _record(text)
            held.setdefault("allowed", {}).setdefault(command, now)
            held.setdefault("results", {})[command] = result
            whole = {"version": 1, "project": folder, **held}
            return json.dumps(whole, indent=2) + "\n"

        self._private.update(
            layout.checks_name(folder), edit, command="planning confirm", may_create=True
        )


def requirements_text(sections: tuple[str, ...]) -> str:
    """The first version of a requirements document: one heading a section."""
    parts = [
        f"## {name}\n\n<!-- Write what holds here; this comment does not count as text. -->\n"
        for name in sections
    ]
    return "# User Requirements\n\n" + "\n".join(parts)


def _first_text(beginning: Beginning, plan_id: str, now: datetime) -> str:
    if not beginning.goal.strip():
        raise EmptyText("the goal")
    if not beginning.requirements.strip():
        raise EmptyText("the requirements file")
    session = scalar_text(beginning.session, quote='"')
    return filled(
        "PLAN.md",
        {
            "plan_id": plan_id,
            "now": now.isoformat(),
            "goal": plan_file.goal_in_body(beginning.goal),
            "goal:yaml": scalar_text(beginning.goal, quote='"'),
            "document": visible(beginning.requirements),
            "document:yaml": scalar_text(beginning.requirements, quote='"'),
            "criterion:yaml": scalar_text(f"{beginning.requirements} complete", quote='"'),
            "session": f"fairlead:\n  session: {session}\n" if beginning.session else "",
        },
    )


def _ignoring(held: str) -> str:
    """A git-ignore file with our entry, unless it covers the files already."""
    if _IGNORING & {line.strip().removeprefix("/") for line in held.splitlines()}:
        return held
    ending = "\r\n" if "\r\n" in held else "\n"
    gap = "" if not held or held.endswith("\n") else ending
    return f"{held}{gap}{layout.PLAN_IGNORED}{ending}"


def _record(text: str) -> dict[str, dict[str, object]]:
    """The person's record; one that cannot be read is begun anew, and has to be allowed anew."""
    try:
        held = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(held, dict):
        return {}
    return {key: held[key] for key in ("allowed", "results") if isinstance(held.get(key), dict)}


def _stamp(now: datetime) -> str:
    return now.isoformat(timespec="seconds")
