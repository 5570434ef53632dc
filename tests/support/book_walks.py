"""Random walks with parallel plans, after each event of which STATE.md must match the books.

A walk has three phases with up to four plans each, whose tasks have equal names. Plans finish in
any order; tasks fail, block and succeed; people type blockers that look like results; runs end
without finishing their phase; STATE.md is pruned in between.
"""

import tempfile
from contextlib import chdir
from pathlib import Path
from random import Random

from tests.support.state_books import Books
from tests.support.walks import PLAN, SUMMARY, homes, run_quietly

STEPS = 30
_TASKS = ("Task 1", "Task 2", "Task 1: Write tests")
_REASONS = ("no database", "tests fail", "waits for plan 2")


def try_book_walk(seed: int, number: int) -> str:
    """Take one walk; return the first fault with the steps that led to it, or an empty string."""
    with tempfile.TemporaryDirectory(prefix="books-") as scratch:
        folder = Path(scratch, "project")
        folder.mkdir()
        with homes(Path(scratch, "home")), chdir(folder):
            return BookWalk(folder, Random(f"{seed}/{number}")).fault()


class BookWalk:
    """One walk through one project."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._folder = folder
        self._random = random
        self._books = Books(folder)
        self._steps: list[str] = []

    def fault(self) -> str:
        """The fault after the first event that leaves one; empty after a good walk."""
        self._do("init", "Walk", "--yes")
        for name in ("Beta", "Gamma"):
            self._do("phase", "add", name)
        for phase in ("1", "2", "3"):
            for plan in range(1, self._random.randint(2, 4) + 1):
                self._write(phase, plan, "PLAN", PLAN)
        self._begin("1")
        for _ in range(STEPS):
            self._random.choice(
                (self._result, self._result, self._result, self._finish, self._person, self._other)
            )()
            faults = self._books.faults()
            if faults:
                return f"{'; '.join(faults)}, after: {'; '.join(self._steps[-6:])}"
        return ""

    # -- events ----------------------------------------------------------------------------------

    def _result(self) -> None:
        phase, plan = self._open_plan()
        if not phase:
            return
        outcome = self._random.choice(("success", "failure", "blocked"))
        task = self._random.choice(_TASKS)
        place = ("--phase", phase, "--plan", self._random.choice((str(plan), f"{plan:02d}")))
        if outcome == "success":
            seconds = self._random.randint(20, 400)
            self._do("state", "task-result", outcome, "--task", task, *place,
                     "--duration", f"{seconds}s")  # fmt: skip
            self._books.succeeded(phase, plan, task, seconds / 60)
            self._end_repeat(phase, plan)
        else:
            reason = self._random.choice(_REASONS)
            self._do("state", "task-result", outcome, "--task", task, *place, "--reason", reason)
            self._books.failed(phase, plan, task, reason)

    def _end_repeat(self, phase: str, plan: int) -> None:
        """Record another activity: a success that is recorded twice in a row counts once."""
        self._do("state", "task-result", "blocked", "--task", "between", "--phase", phase,
                 "--plan", str(plan), "--reason", "pause")  # fmt: skip
        self._do(
            "state", "resolve-blocker", "--text", f"[Phase {phase} P{plan:02d}]: between: pause"
        )

    def _finish(self) -> None:
        phase, plan = self._open_plan()
        if not phase:
            return
        self._write(phase, plan, "SUMMARY", SUMMARY)
        self._do("state", "advance-plan", "--phase", phase, "--plan", str(plan))
        self._books.stopped = f"Plan {int(phase):02d}-{plan:02d} complete"
        if all(is_done for _, is_done in self._books.plans(phase)):
            self._books.active = ""
            remaining = [each for each in ("1", "2", "3") if self._open_plans(each)]
            if remaining:
                self._begin(remaining[0])

    def _person(self) -> None:
        if self._books.typed and self._random.random() < 0.4:
            text = self._random.choice(self._books.typed)
            self._do("state", "resolve-blocker", "--text", text)
            self._books.person_resolved(text)
            return
        text = self._random.choice(
            ("Task 1: supplier on strike", "no database", "[Phase 1]: Task 1: by hand", "Task 2")
        )
        self._do("state", "add-blocker", "--text", text)
        self._books.person_typed(text)

    def _other(self) -> None:
        match self._random.randrange(3):
            case 0:
                self._do("state", "prune", "--lines", "60")
            case 1:
                self._do("state", "sync")
            case _:
                phases = [each for each in ("1", "2", "3") if self._open_plans(each)]
                if phases:
                    self._begin(self._random.choice(phases))

    # -- parts -----------------------------------------------------------------------------------

    def _begin(self, phase: str) -> None:
        self._do("state", "begin-phase", "--phase", phase)
        self._books.active = phase

    def _open_plans(self, phase: str) -> list[int]:
        return [plan for plan, is_done in self._books.plans(phase) if not is_done]

    def _open_plan(self) -> tuple[str, int]:
        """Any open plan of the active phase."""
        plans = self._open_plans(self._books.active)
        return (self._books.active, self._random.choice(plans)) if plans else ("", 0)

    def _write(self, phase: str, plan: int, kind: str, text: str) -> None:
        home = next(self._folder.glob(f".planning/phases/{int(phase):02d}-*"))
        path = home / f"{int(phase):02d}-{plan:02d}-{kind}.md"
        path.write_text(text.format(phase=home.name, plan=plan), "utf-8")
        self._steps.append(f"wrote {path.name}")

    def _do(self, *words: str) -> None:
        code, _ = run_quietly(*words)
        self._steps.append(f"{' '.join(words)} [{code}]")
