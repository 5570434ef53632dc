"""Seeded planning trees: the same seed gives the same project, peculiarities included.

Each tree mixes the forms of real projects: roadmaps with headings, bullets or tables, one or more
milestones, decimal and lettered phases, plan and summary names of every generation, superseded,
blocked, empty and failed work, and a STATE.md that may be wrong.
"""

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import oddities

_WORDS = "login search export billing profile alerts sync report import audit".split()
_FOLDERS = (
    "CK-{padded}-{name}",
    "phase-{number}",
    "p{number}-{name}",
    "{number}-{name}",
    "{padded}",
)
_SAME_TIME = 1_700_000_000  # so that no file is newer than another


@dataclass(slots=True)
class _Phase:
    number: str
    name: str
    milestone: str
    plans: list[str] = field(default_factory=list)
    done: int = 0

    form: str = "{padded}-{name}"

    @property
    def padded(self) -> str:
        """The number as in file names."""
        whole, dot, rest = self.number.partition(".")
        digits = whole.rstrip("ABC")
        return f"{digits.zfill(2)}{whole[len(digits) :]}{dot}{rest}"

    @property
    def folder(self) -> str:
        """The folder's name."""
        return self.form.format(padded=self.padded, number=self.number, name=self.name)


def make_tree(folder: Path, seed: int) -> Path:
    """Write the project of this seed into a folder."""
    _Maker(folder, random.Random(seed)).make()
    for path in sorted(folder.rglob("*")):
        os.utime(path, (_SAME_TIME, _SAME_TIME))
    return folder


class _Maker:
    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.planning = folder / ".planning"
        self.rng = rng
        self.milestones = rng.choice([[], ["v1.0"], ["v1.0"], ["v1.0", "v1.1"]])
        self.phases = self._phases()

    def make(self) -> None:
        for phase in self.phases:
            is_archived = self._is_past(phase) and self.rng.random() < 0.5
            below = f"milestones/{phase.milestone}-phases" if is_archived else "phases"
            if is_archived or self.rng.random() < 0.85:
                self._folder(phase, below)
        if self.rng.random() < 0.05:
            self._write("phases/999.1-backlog/notes.md", "An idea.\n")
        if self.rng.random() < 0.03:
            self._write("phases/research/01-01-PLAN.md", "# Plan\n")
        if self.rng.random() < 0.03:
            self._write(f"phases/{self.phases[0].folder}/01-01-PLAN-CHECK.md", "# Check\n")
        if self.rng.random() < 0.05:
            self._write("phases/77-unlisted/77-01-PLAN.md", "# Plan\n")
        if self.rng.random() < 0.03:
            self._write(f"phases/{self.phases[0].padded}-again/01-01-PLAN.md", "# Plan\n")
        self._odd_folders()
        self._write("ROADMAP.md", self._odd_roadmap(self._roadmap()))
        self._odd_state(self._state())
        self._write("PROJECT.md", "# Sample\n")
        (self.planning / "phases").mkdir(parents=True, exist_ok=True)

    def _odd_folders(self) -> None:
        for home in sorted((self.planning / "phases").glob("*")):
            if self.rng.random() < 0.06:
                oddities.odd_files(home, home.name.partition("-")[0], self.rng)

    def _odd_roadmap(self, text: str) -> str:
        if self.rng.random() < 0.06:
            text = oddities.in_other_words(text, self.rng.choice(oddities.WORDS))
        return self.rng.choice(oddities.ROADMAP)(text) if self.rng.random() < 0.25 else text

    def _odd_state(self, text: str) -> None:
        if self.rng.random() < 0.35:
            text = self.rng.choice(oddities.STATE)(text)
        self._write("STATE.md", text)
        if self.rng.random() < 0.02:
            path = self.planning / "STATE.md"
            path.rename(self.planning / "elsewhere.md")
            path.symlink_to("elsewhere.md")

    # -- phases --------------------------------------------------------------------------

    def _phases(self) -> list[_Phase]:
        numbers = [str(number) for number in range(1, self.rng.randint(2, 6))]
        if self.rng.random() < 0.2:
            numbers.insert(self.rng.randint(1, len(numbers)), f"{numbers[0]}.1")
        if self.rng.random() < 0.05:
            numbers.append(f"{numbers[-1].partition('.')[0]}A")
        if self.rng.random() < 0.05:
            numbers.append(self.rng.choice(["31.1", "105.1", "12.10", "40"]))
        half = len(numbers) // 2
        phases = []
        for at, number in enumerate(numbers):
            milestone = self.milestones[-1] if self.milestones else ""
            if len(self.milestones) > 1 and at < half:
                milestone = self.milestones[0]
            draw = self.rng.random()
            form = _FOLDERS[int(draw * 100)] if draw < 0.05 else "{padded}-{name}"
            words = oddities.SLUGS if self.rng.random() < 0.03 else _WORDS
            phases.append(_Phase(number, self.rng.choice(words), milestone, form=form))
        return phases

    def _is_past(self, phase: _Phase) -> bool:
        return len(self.milestones) > 1 and phase.milestone == self.milestones[0]

    def _folder(self, phase: _Phase, below: str) -> None:
        home = f"{below}/{phase.folder}"
        stage = (
            "complete"
            if self._is_past(phase)
            else self.rng.choice(
                ["empty", "context", "research", "planned", "partial", "complete", "complete"]
            )
        )
        prefix = phase.padded
        if stage == "empty":
            (self.planning / home).mkdir(parents=True, exist_ok=True)
            return
        if stage in ("context", "research"):
            self._write(f"{home}/{prefix}-{stage.upper()}.md", "# Notes\n")
            return
        count = self.rng.randint(1, 3)
        done = {"planned": 0, "partial": count - 1, "complete": count}[stage]
        for at in range(1, count + 1):
            plan, summary = self._names(prefix, at, count, phase)
            head = "---\nstatus: superseded\n---\n" if self.rng.random() < 0.04 else ""
            self._write(f"{home}/{plan}", f"{head}# Plan\n\n<task>do it</task>\n")
            if at <= done:
                self._write(f"{home}/{summary}", self._summary())
        if self.rng.random() < 0.05:
            self._write(f"{home}/{prefix}-09-SUMMARY.md", "# Orphan\n")
        if stage == "complete" and self.rng.random() < 0.7:
            status = self.rng.choice(["passed", "passed", "passed", "gaps_found"])
            self._write(f"{home}/{prefix}-VERIFICATION.md", f"---\nstatus: {status}\n---\n# V\n")

    def _names(self, prefix: str, at: int, count: int, phase: _Phase) -> tuple[str, str]:
        plain = (f"{prefix}-{at:02d}-PLAN.md", f"{prefix}-{at:02d}-SUMMARY.md")
        draw = self.rng.random()
        if draw < 0.85:
            return plain
        if draw < 0.9:
            slug = phase.folder
            return plain[0], f"{slug}-{at:02d}-SUMMARY.md"
        if draw < 0.94:
            return f"{prefix}-{at:02d}-setup-PLAN.md", plain[1]
        if draw < 0.95:
            return self.rng.choice(
                [
                    (f"{prefix}-PLAN-{at:02d}.md", plain[1]),
                    (f"PLAN-{prefix}-{at:02d}.md", f"SUMMARY-{prefix}-{at:02d}.md"),
                    (f"{prefix}-P{at:02d}-PLAN.md", f"{prefix}-P{at:02d}-SUMMARY.md"),
                    (plain[0], f"{prefix}-{at:02d}-PLAN-SUMMARY.md"),
                    (f"{prefix}-setup-PLAN.md", f"{prefix}-setup-SUMMARY.md"),
                    (plain[0], f"{prefix.lstrip('0')}-{at:02d}-SUMMARY.md"),
                    (f"{prefix}.PLAN.md", f"{prefix}-SUMMARY.md"),
                ]
            )
        return ("PLAN.md", "SUMMARY.md") if count == 1 else plain

    def _summary(self) -> str:
        draw = self.rng.random()
        if draw < 0.03:
            return ""
        if draw < 0.06:
            return "---\nstatus: blocked\n---\n# Blocked\n"
        if draw < 0.09:
            return "# Summary\n\n## Self-Check: FAILED\n"
        return "# Summary\n\nDone.\n"

    # -- documents -----------------------------------------------------------------------

    def _roadmap(self) -> str:
        style = self.rng.choice(["headings", "headings", "both", "both", "bullets", "table"])
        lines = ["# Roadmap", ""]
        if self.rng.random() < 0.05:
            lines += ["```", "### Phase 9: Example", "```", ""]
        for milestone in self.milestones or [""]:
            mine = [phase for phase in self.phases if phase.milestone == milestone]
            is_past = len(self.milestones) > 1 and milestone == self.milestones[0]
            is_folded = bool(milestone) and self.rng.random() < (0.5 if is_past else 0.04)
            if is_folded:
                title = f"✅ {milestone} First - SHIPPED" if is_past else f"🚧 {milestone} Part"
                lines += ["<details>", f"<summary>{title}</summary>", ""]
            elif milestone:
                mark = "✅ " if is_past else self.rng.choice(["🚧 ", ""])
                lines += [f"## {mark}{milestone} Part{' (Shipped)' if is_past else ''}", ""]
            if self.rng.random() < 0.04:
                self.rng.shuffle(mine)
            lines += self._listed(mine, style)
            lines += ["</details>", ""] if is_folded else []
        return "\n".join(lines)

    def _listed(self, phases: list[_Phase], style: str) -> list[str]:
        lines: list[str] = []
        if style in ("bullets", "both"):
            for phase in phases:
                mark = self.rng.choice(" x")
                lines.append(
                    f"- [{mark}] **Phase {phase.number}: {phase.name.title()}** - about it"
                )
            lines.append("")
        if style in ("headings", "both"):
            for phase in phases:
                strike = "~~" if self.rng.random() < 0.03 else ""
                lines += [f"### {strike}Phase {phase.number}: {phase.name.title()}{strike}", ""]
                lines += ["**Goal**: It works", "**Plans**: 2 plans", ""]
        if style == "table":
            lines += ["| Phase | Name | Status |", "|---|---|---|"]
            lines += [f"| {phase.number} | {phase.name.title()} | Planned |" for phase in phases]
            lines.append("")
        return lines

    def _state(self) -> str:
        number = self.rng.choice(self.phases).number
        body = [
            "# Project State",
            "",
            "## Current Position",
            "",
            f"Phase: {number} of {len(self.phases)} (Work)",
            "Plan: 1 of 2 in current phase",
            "Status: In progress",
            "Last activity: 2026-01-02 — Did something",
            "",
            f"Progress: [███░░░░░░░] {self.rng.randint(0, 100)}%",
            "",
        ]
        if self.rng.random() < 0.2:
            return "\n".join(body)
        front = ["---", 'gsd_state_version: "1.0"']
        if self.milestones and self.rng.random() < 0.8:
            front += [f"milestone: {self.milestones[-1]}", "milestone_name: Part"]
        if self.rng.random() < 0.3:
            front.append(f"current_phase: {self.rng.choice(self.phases).padded}")
        front += ["status: executing", "progress:"]
        total = self.rng.randint(1, 6)
        front += [
            f"  total_phases: {total}",
            f"  completed_phases: {self.rng.randint(0, total)}",
        ]
        if self.rng.random() < 0.5:
            front.append(f"  percent: {self.rng.randint(0, 100)}")
        return "\n".join([*front, "---", "", *body])

    def _write(self, name: str, text: str) -> None:
        path = self.planning / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
