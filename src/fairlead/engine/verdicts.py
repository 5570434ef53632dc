"""Verdicts: a verification recorded, with the plans that patch its gaps, in one step with STATE.md."""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.engine.look import Change, Look, editing
from fairlead.engine.phases import Decision, PhaseChange, Phases, require_complete
from fairlead.model.inventory import Phase, Plan, Verification
from fairlead.records import events
from fairlead.records.compare_roadmap import roadmap_findings
from fairlead.records.position import phase_of
from fairlead.records.repair import repaired_roadmap
from fairlead.store.files import Draft, Edit
from fairlead.text.document import Document
from fairlead.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Judged:
    """What a verification came to, and everything that is written with it."""

    path: str  # of VERIFICATION.md
    status: str
    texts: Mapping[str, str]  # of the files that are written
    plans: tuple[Plan, ...] = ()  # patch plans among them
    told: str = ""  # what STATE.md says of it; empty: nothing

    @property
    def is_passed(self) -> bool:
        """Whether the phase is complete by it."""
        return self.status == "passed"


class Verdicts(Phases):
    """Records the verifications of one project."""

    def record(self, phase: str, judged: Judged, *, dry_run: bool = False) -> PhaseChange:
        """A verification is recorded with its patch plans; one that passed completes the phase."""

        def decide(look: Look) -> Decision:
            here = phase_of(look.standing, phase)
            assert here.folder is not None
            folder = replace(
                here.folder,
                verification=Verification(judged.path, judged.status, is_stale=False),
                plans=(*here.folder.plans, *judged.plans),
            )
            others = (each for each in look.inventory.folders if each.path != folder.path)
            look = look.after(replace(look.inventory, folders=(*others, folder)))
            here = phase_of(look.standing, phase)
            if judged.is_passed:
                require_complete(here, look.standing.policy)
                made = self._completed(look, here, events.phase_verified)
            else:
                made = self._ended(look, here, judged.told)
            draft = made.draft
            texts = {path: (lambda _, text=text: text) for path, text in judged.texts.items()}
            created = frozenset((*draft.may_create, *texts))
            return replace(made, draft=Draft({**texts, **draft.edits}, draft.places, created))

        return self._carry_out("phase verify", decide, dry_run=dry_run)

    def left(self, phase: str) -> PhaseChange:
        """A verification ended without a verdict: nobody is at it any more."""

        def decide(look: Look) -> Decision:
            here = phase_of(look.standing, phase)
            draft = look.draft(_leaving(here, "verification stopped"))
            return Decision(draft, here.id, here.name, here.folder.path if here.folder else "")

        return self._carry_out("phase verify", decide, dry_run=False)

    def _ended(self, look: Look, here: Phase, told: str) -> Decision:
        state = _leaving(here, told)
        has_state = bool(told) and self._files.exists(look.state_path)
        draft = look.draft(state) if has_state else Draft({})
        if has_state and self._files.exists(self._roadmap):
            draft = replace(draft, edits={self._roadmap: self._lowered(look, here), **draft.edits})
        return Decision(draft, here.id, here.name, here.folder.path if here.folder else "")

    def _lowered(self, look: Look, here: Phase) -> Edit:
        """The marks of a phase that has work left after all; those of others are not touched."""
        name = f"phase {here.id.short} "
        found = [
            each
            for each in roadmap_findings(look.standing, self._roadmap)
            if each.what.startswith(name)
        ]
        return editing(lambda held: repaired_roadmap(held, found, self._roadmap).document)


def _leaving(here: Phase, told: str) -> Change:
    def state(held: Document, at: Look) -> Document:
        words = f"Phase {here.id.short} {told}"
        return events.step_left(held, at.standing, here.id.short, at.now, told=words)

    return state
