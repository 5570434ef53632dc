"""The story of a council job in a few lines: council, votes, waves, gates, merged commits.

The live tables show what happens now and `job show` has the whole record; this tells what
happened, one line for each vote of the council and each attempt at a task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fairlead.interfaces.cli.output import Line, Part, Styled
from fairlead.jobs.activity import readable, short_line

if TYPE_CHECKING:
    from fairlead.jobs.context import JobEvent
    from fairlead.plans.service import PlanIndex

_STAGES = {
    "PM_RUNNING": "a PM refines the goal and researches the project",
    "COUNCIL_PLANNING": "six seats plan, each on its own",
    "APPROVED": "all six approve the same text; it becomes a phase with plans",
}
_VOTE_STYLES = {"APPROVE": "green", "REVISE": "yellow", "VETO": "red"}
# The end of a step of a gate: its name, and whether it ended well.
_STEPS = {
    "executor-success": ("execute", True),
    "executor-failure": ("execute", False),
    "verify-passed": ("verify", True),
    "verify-failed": ("verify", False),
    "approved": ("review", True),
    "rejected": ("review", False),
}
_INDENT = " " * 10


class RunStory:
    """Turns the events of a council job into lines."""

    def __init__(self, show: Callable[[Line], None], plans: Callable[[str], PlanIndex]) -> None:
        self._show = show
        self._plans = plans  # the plans of a phase
        self._votes: dict[str, str] = {}
        self._drafts = 0
        self._rounds = 0
        self._steps: dict[str, list[Part]] = {}
        self._wave = ""
        self._waves: Mapping[str, str] = {}
        self._titles: Mapping[str, str] = {}

    def report(self, event: JobEvent) -> None:
        """Tell an event, if it is worth a line."""
        if event.kind == "moved":
            self._tell_stage(event.text)
        elif event.kind == "answered" and event.facts.get("verdict"):
            self._votes[event.subject] = str(event.facts["verdict"])
        elif event.kind == "started":
            index = self._plans(str(event.facts.get("phase", "")))
            self._waves = {plan: wave for wave, ids in index.waves.items() for plan in ids}
            self._titles = {plan.id: plan.objective for plan in index.plans}
        elif event.kind == "executing":
            self._tell_plan(event.subject.rpartition("-")[0])
            attempt = str(event.facts.get("attempt", 1))
            self._steps[event.subject] = [Styled(f"{_INDENT}  try {attempt}", "dim")]
        elif event.kind in _STEPS:
            self._tell_step(event)
        elif event.kind == "merged":
            line = Styled(f"{_INDENT}  merged {event.text}", "green")
            self._show((line, f"  into {event.facts.get('branch', '')}"))

    def _tell_stage(self, status: str) -> None:
        if self._votes:
            self._rounds += 1
            self._show(_votes_line(self._rounds, self._votes))
            self._votes = {}
        if status == "SYNTHESIZING":
            self._drafts += 1
            text = "one plan is made from theirs" if self._drafts == 1 else "the plan is revised"
            self._show((_INDENT, text))
        elif status in _STAGES:
            lead = Styled("council   ", "bold") if status == "PM_RUNNING" else _INDENT
            self._show((lead, _STAGES[status]))

    def _tell_plan(self, plan: str) -> None:
        wave = self._waves.get(plan, "")
        if plan in self._steps:
            return
        self._steps[plan] = []
        lead = Styled(f"wave {wave}".ljust(10), "bold") if wave != self._wave else _INDENT
        self._wave = wave
        self._show((lead, Styled(plan, "bold"), f"  {short_line(self._titles.get(plan, ''))}"))

    def _tell_step(self, event: JobEvent) -> None:
        name, is_good = _STEPS[event.kind]
        steps = self._steps.setdefault(event.subject, [_INDENT])
        mark = Styled(f"  {name} ✓", "green") if is_good else Styled(f"  {name} ✗", "red")
        steps.append(mark)
        if event.kind == "approved" or not is_good:
            why = short_line(readable(event.text))
            self._show((*steps, Styled(f"  {why}", "dim")) if why else (*steps,))
            self._steps[event.subject] = [_INDENT]


def _votes_line(number: int, votes: Mapping[str, str]) -> Line:
    counts = Counter(votes.values())
    parts: list[Part] = [Styled(f"round {number}".ljust(10), "bold")]
    for verdict, count in counts.most_common():
        names = [seat for seat, vote in votes.items() if vote == verdict]
        who = f" ({', '.join(names)})" if verdict != "APPROVE" else ""
        gap = ", " if len(parts) > 1 else ""
        parts += [
            gap,
            Styled(f"{count} {verdict.lower()}", _VOTE_STYLES.get(verdict, "yellow")),
            who,
        ]
    return parts
