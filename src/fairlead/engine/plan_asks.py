"""What planning a phase asks of each role: pure text, from what is known of the phase."""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.engine.phase_documents import Subject
from fairlead.engine.prompting import listed, word
from fairlead.engine.role_calls import Ask, Given, text_of
from fairlead.errors import ArtefactFault
from fairlead.model.budget import Spent, estimate
from fairlead.model.inventory import Proof
from fairlead.model.plan import PlanSheet
from fairlead.model.roles import role
from fairlead.records.context import read_context
from fairlead.records.plan_faults import Issue, Wanted
from fairlead.records.plan_sheet import read_plan
from fairlead.store.layout_roles import plan_path
from fairlead.text.document import Document
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person wants of planning."""

    research: bool = True
    is_new_research: bool = False  # although there is some already
    patterns: bool = True
    check: bool = True
    critic: bool = False  # plans that passed the checker are looked at once more
    replan: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one role will be given, and what that will probably take."""

    role: str
    key: str
    model: str
    pieces: tuple[tuple[str, int], ...]  # name and characters
    characters: int
    estimate: Spent


@dataclass(frozen=True, slots=True)
class Draft:
    """One round's plans."""

    sheets: tuple[PlanSheet, ...]
    texts: tuple[str, ...]


class PlanAsks:
    """The questions of one phase's planning."""

    def __init__(self, subject: Subject, wishes: Wishes, today: str) -> None:
        self.subject = subject
        self.wishes = wishes
        self.context = (
            read_context(subject.path("CONTEXT"), held)
            if (held := subject.artefact("CONTEXT"))
            else None
        )
        stay = [
            each for each in subject.plans if each.is_superseded or each.proof is not Proof.NONE
        ]
        done = [each for each in stay if not each.is_superseded]
        self.first = max((each.number for each in stay), default=0) + 1
        self.wanted = Wanted(
            subject.told.requirements if not done else (),
            self.context.decisions if self.context and not done else (),
            tuple(each.id for each in done),
        )
        example = subject.told.requirements[0] if subject.told.requirements else "REQ-01"
        self._words = {
            "phase": subject.id.short,
            "padded": subject.padded,
            "name": word(subject.name),
            "folder": word(subject.folder.rpartition("/")[2]),
            "today": today,
            "example": example,
        }
        self._known = {
            "project": subject.project,
            "phase": subject.told.section or f"Phase {subject.id.short}: {subject.name}",
            "requirements": "\n".join(f"{name}: {text}" for name, text in subject.requirements),
            "state": subject.state,
            "context": subject.artefact("CONTEXT"),
        }

    @property
    def wants_research(self) -> bool:
        """Whether research is wanted and not there."""
        return self.wishes.research and (
            self.wishes.is_new_research or not self.subject.artefact("RESEARCH")
        )

    @property
    def wants_patterns(self) -> bool:
        """Whether a map of patterns is wanted and not there."""
        return self.wishes.patterns and not self.subject.artefact("PATTERNS")

    def research_ask(self) -> Ask:
        """For the phase researcher."""
        return Ask(role("phase-researcher"), "research", self._known, self._words, ("RESEARCH.md",))

    def patterns_ask(self, research: str) -> Ask:
        """For the pattern mapper."""
        pieces = {"phase": self._known["phase"], "context": self._known["context"]}
        pieces["research"] = research
        return Ask(role("pattern-mapper"), "patterns", pieces, self._words, ("PATTERNS.md",))

    def plan_ask(
        self, number: int, before: Draft | None, issues: tuple[Issue, ...], guidance: str
    ) -> Ask:
        """For the planner, in a round; with what was wrong before."""
        pieces = {
            **self._known,
            "research": self.subject.artefact("RESEARCH"),
            "patterns": self.subject.artefact("PATTERNS"),
        }
        if self.first > 1:
            pieces["numbering"] = f"plans 1 to {self.first - 1} are there; begin with {self.first}"
        verified = self.subject.artefact("VERIFICATION")
        if Document(verified).value("status") == "gaps_found":
            pieces["gaps"] = verified
        if before:
            pieces["plans"] = "\n\n".join(before.texts)
            pieces["faults"] = listed([str(each) for each in issues])
        if guidance:
            pieces["guidance"] = guidance
        return Ask(
            role("planner"),
            f"plan-{number}",
            pieces,
            {**self._words, "round": str(number)},
            (f"{self.subject.padded}-*-PLAN.md",),
        )

    def check_ask(self, number: int, plans: str) -> Ask:
        """For the checker of a round's plans."""
        pieces = {**self._known, "research": self.subject.artefact("RESEARCH"), "plans": plans}
        words = {**self._words, "round": str(number)}
        return Ask(role("plan-checker"), f"check-{number}", pieces, words)

    def critic_ask(self, number: int, plans: str) -> Ask:
        """For the critic of plans that passed."""
        pieces = {**self._known, "plans": plans}
        words = {"subject": f"the plans of phase {self.subject.id.short}, round {number}"}
        return Ask(role("critic"), f"critic-{number}", pieces, words)

    def read_draft(self, given: Given) -> Draft:
        """The plans, numbered in their order; raises with file and line where one cannot be read."""
        found = sorted(given.documents.items())
        sheets = []
        for at, (name, text) in enumerate(found, self.first):
            path = plan_path(self.subject.folder, self.subject.padded, at)
            if path.rpartition("/")[2] != name:
                what = f"the plans are numbered from {self.first} on without gaps: {name}"
                raise ArtefactFault(what).located(name)
            sheets.append(read_plan(path, text))
        return Draft(tuple(sheets), tuple(text for _, text in found))


def receipt(ask: Ask, models: Mapping[str, str]) -> Receipt:
    """What a role will be given."""
    size = len(text_of(ask))
    return Receipt(
        ask.role.name,
        ask.key,
        models.get(ask.role.name, ""),
        tuple((name, len(text)) for name, text in ask.pieces.items()),
        size,
        estimate(ask.role.name, size),
    )
