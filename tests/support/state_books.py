"""Books that a walk keeps beside STATE.md: blockers, velocity, position, the active phase.

They are written from the commands of the walk and the files it makes, with arithmetic of their
own, and read STATE.md only as text. Nothing here imports the product.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_ENTRY = re.compile(r"^- (.+)$", re.MULTILINE)
_OWN_ENTRY = re.compile(r"\[Phase 1 P(\d+)\]: ")
_PLAN_FILE = re.compile(r"0*(\d+(?:\.\d+)*)-(\d+)-PLAN\.md\Z")


@dataclass
class Books:
    """What must be in STATE.md after the events so far."""

    folder: Path
    results: dict[tuple[str, int, str], str] = field(default_factory=dict)  # by phase, plan, task
    typed: list[str] = field(default_factory=list)
    minutes: dict[tuple[str, int], float] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)  # entries that must be in the archive
    seen: list[str] = field(default_factory=list)  # the blockers after the last run
    active: str = ""
    stopped: str = "Project initialized"

    # -- entries -------------------------------------------------------------------------------

    def failed(self, phase: str, plan: int, task: str, reason: str) -> None:
        """A task of a plan failed or is blocked."""
        place = (phase, plan, task)
        if place in self.results and self.results[place] != reason:
            self.gone.append(_entry(place, self.results[place]))
        if self.results.get(place) != reason:
            self.results.pop(place, None)
        self.results[place] = reason

    def succeeded(self, phase: str, plan: int, task: str, minutes: float) -> None:
        """A task of a plan succeeded after that many minutes."""
        place = (phase, plan, task)
        if place in self.results:
            self.gone.append(_entry(place, self.results.pop(place)))
        self.minutes[phase, plan] = self.minutes.get((phase, plan), 0) + minutes
        self.stopped = f"Completed {task}"

    def person_typed(self, text: str) -> None:
        """A person recorded a blocker."""
        if text not in self.typed:
            self.typed.append(text)

    def person_resolved(self, text: str) -> None:
        """A person resolved a blocker."""
        self.typed.remove(text)
        self.gone.append(text)

    # -- what the files say ----------------------------------------------------------------------

    def plans(self, phase: str) -> list[tuple[int, bool]]:
        """The plans of a phase in order, each with whether its summary exists."""
        found = []
        for path in sorted(self.folder.glob(".planning/phases/*/*-PLAN.md")):
            match = _PLAN_FILE.search(path.name)
            if match and match[1] == phase:
                summary = path.with_name(path.name.replace("PLAN", "SUMMARY"))
                found.append((int(match[2]), summary.exists()))
        return found

    def _phases(self) -> list[str]:
        folders = sorted((self.folder / ".planning/phases").iterdir())
        return [folder.name.split("-")[0].lstrip("0") for folder in folders]

    # -- comparison ------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """Every difference between the books and STATE.md."""
        planning = self.folder / ".planning"
        state = (planning / "STATE.md").read_text("utf-8")
        archive = planning / "STATE-ARCHIVE.md"
        kept = archive.read_text("utf-8") if archive.exists() else ""
        return [
            *self._blockers(state, kept),
            *self._velocity(state),
            *self._position(state),
            *_differs("active_phase", _front(state, "active_phase"), self.active or "null"),
            *_differs("Stopped at", _line(state, "Stopped at"), self.stopped),
        ]

    def run_faults(self, *, is_whole: bool = False) -> list[str]:
        """Every difference after a run of phase 1 has ended, however it ended.

        An open plan has at most one blocker, and exactly one after a whole run.
        """
        planning = self.folder / ".planning"
        state = (planning / "STATE.md").read_text("utf-8")
        archive = planning / "STATE-ARCHIVE.md"
        kept = archive.read_text("utf-8") if archive.exists() else ""
        written = _ENTRY.findall(_section(state))
        own = [match for entry in written if (match := _OWN_ENTRY.match(entry))]
        blocked = sorted(int(match[1]) for match in own)
        still_open = [plan for plan, is_done in self.plans("1") if not is_done]
        expected = still_open if is_whole else [each for each in still_open if each in blocked]
        lost = [entry for entry in self.seen if entry not in written and f"- {entry}" not in kept]
        self.seen = written
        done = len(self.plans("1")) - len(still_open)
        said = _line(state, "Total plans completed") or str(done)
        return [
            *_differs("plans with a blocker", blocked, expected),
            *(f"{entry!r} is in neither file" for entry in lost),
            *(f"{each!r} is lost" for each in self.typed if each not in written),
            *_differs("plans completed", said, str(done)),
            *self._position(state),
            *_differs("active_phase", _front(state, "active_phase") or "null", "null"),
        ]

    def _blockers(self, state: str, archive: str) -> Iterable[str]:
        written = sorted(_ENTRY.findall(_section(state)))
        expected = [_entry(place, reason) for place, reason in self.results.items()]
        yield from _differs("blockers", written, sorted([*expected, *self.typed]))
        for entry in self.gone:
            if f"- {entry}" not in archive:
                yield f"{entry!r} is in neither file"

    def _velocity(self, state: str) -> Iterable[str]:
        done = {
            (phase, plan)
            for phase in self._phases()
            for plan, is_done in self.plans(phase)
            if is_done
        }
        spent = sum(self.minutes.values())
        timed = [took for place, took in self.minutes.items() if place in done]
        yield from _differs(
            "plans completed", _line(state, "Total plans completed"), f"{len(done)}"
        )
        if not self.minutes:
            return
        yield from _is_near("hours", _line(state, "Total execution time"), spent / 60, 0.05)
        average = sum(timed) / len(timed) if timed else None
        yield from _is_near("average", _line(state, "Average duration"), average, 0.5)
        for phase in {place[0] for place in self.minutes}:
            row = re.search(
                rf"^\| {phase}\. [^|]*\| *(\d+) *\| *([\d.]+) min ", state, re.MULTILINE
            )
            count = sum(place[0] == phase for place in done)
            total = sum(took for place, took in self.minutes.items() if place[0] == phase)
            if row is None:
                yield f"phase {phase} has no row"
                continue
            yield from _differs(f"plans of phase {phase}", row[1], str(count))
            yield from _is_near(f"minutes of phase {phase}", row[2], total, 0.5)

    def _position(self, state: str) -> Iterable[str]:
        named = re.match(r"(\d+(?:\.\d+)*) of ", _line(state, "Phase"))
        plans = self.plans(named[1]) if named else []
        still_open = [at for at, (_, is_done) in enumerate(plans, 1) if not is_done]
        if still_open:
            expected = f"{still_open[0]} of {len(plans)} in current phase"
            yield from _differs("Plan", _line(state, "Plan"), expected)


def _entry(place: tuple[str, int, str], reason: str) -> str:
    phase, plan, task = place
    return f"[Phase {phase} P{plan:02d}]: {task}: {reason}"


def _section(state: str) -> str:
    return state.partition("### Blockers/Concerns\n")[2].partition("\n## ")[0]


def _line(state: str, label: str) -> str:
    match = re.search(rf"^(?:- )?{label}: (.*)$", state, re.MULTILINE)
    return match[1] if match else ""


def _front(state: str, key: str) -> str:
    match = re.search(rf"^{key}: (.*)$", state.partition("\n---\n")[0], re.MULTILINE)
    return match[1].strip("\"'") if match else ""


def _differs(what: str, written: object, expected: object) -> Iterable[str]:
    if written != expected:
        yield f"{what}: STATE.md has {written!r}, the books have {expected!r}"


def _is_near(what: str, written: str, expected: float | None, within: float) -> Iterable[str]:
    number = re.match(r"[\d.]+", written)
    if expected is None:
        yield from _differs(what, written, "-")
    elif number is None or abs(float(number[0]) - expected) > within + 1e-9:
        yield f"{what}: STATE.md has {written!r}, the books have {expected:.3f}"
