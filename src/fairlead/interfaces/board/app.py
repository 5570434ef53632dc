"""The screens and keys of the terminal board.

Reading takes place in a thread with an application of its own, so that keys work meanwhile. Files
that change during a reading are reported after it, so readings never pile up.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App as TextualApp
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static, TabbedContent, TabPane
from watchfiles import awatch

from fairlead.app import App
from fairlead.core.errors import FairleadError
from fairlead.core.values import dataclass
from fairlead.council.report import CouncilReport
from fairlead.interfaces.board.dialogs import ConfirmDialog, PageDialog, TextDialog
from fairlead.interfaces.board.text import PageLine, one_row, page_text, safe_text
from fairlead.jobs.model import COUNCIL
from fairlead.project.open_jobs import JobState, OpenJob
from fairlead.project.todos import new_todo
from fairlead.store import layout
from fairlead.store.digests import FileCache
from fairlead.views.actions import ACTIONS, STARTED_KINDS, StartedJob, repair_diff
from fairlead.views.board import AttentionItem, BoardView, PlanCard, PlanState, board_view
from fairlead.views.council import council_table
from fairlead.views.documents import document_view

_MOST_ROWS = 400  # of a table; the filter finds the others
_TICK_MS = 5_000  # a process that ends by force changes no file
_STYLES = {
    "done": "green", "DONE": "green", "running": "cyan", "ready": "blue", "waits": "yellow",
    "started": "yellow", "blocked": "yellow", "interrupted": "yellow", "BLOCKED": "yellow",
    "FAILED": "red",
}  # fmt: skip
_PLAN_ORDER = (
    PlanState.RUNNING,
    PlanState.STARTED,
    PlanState.BLOCKED,
    PlanState.READY,
    PlanState.WAITING,
    PlanState.DONE,
)
_COLUMNS = {
    "attention": ("state", "job", "what"),
    "plan-table": ("state", "plan", "wave", "gate", "objective"),
    "job-table": ("state", "job", "status", "phase", "started", "note"),
}
_WHO = {"the configured agents": "", "a rehearsal: no model is asked": "yes"}
_TABLE_OF_TAB = {"now": "attention", "plans": "plan-table", "jobs": "job-table"}

Rows = dict[str, tuple[Text, ...]]  # by key


@dataclass(frozen=True, slots=True)
class BoardPages:
    """The pages of the command line that the board shows: value and width to lines."""

    status: Callable[[Any, int], Sequence[PageLine]]
    job: Callable[[Any, OpenJob, int], Sequence[PageLine]]


class TerminalBoard(TextualApp[None]):
    """The board of one project."""

    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "board.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('now')", "Now", show=False),
        Binding("2", "tab('plans')", "Plans", show=False),
        Binding("3", "tab('jobs')", "Jobs", show=False),
        Binding("j", "move('cursor_down')", show=False),
        Binding("k", "move('cursor_up')", show=False),
        Binding("a", "answer", "Answer"),
        Binding("c", "cancel", "Cancel"),
        Binding("r", "retry", "Retry"),
        Binding("n", "capture", "Note"),
        Binding("s", "start", "Start"),
        Binding("g", "resume", "Go on"),
        Binding("v", "veto", "Veto"),
        Binding("u", "rule", "Rule"),
        Binding("d", "repair", "Repair drift"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "unfilter", show=False),
        Binding("f5", "reread", "Read again", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self,
        new_app: Callable[[], App],
        workstream: str,
        pages: BoardPages,
        *,
        follows: bool = True,
    ) -> None:
        super().__init__()
        self.animation_level = "none"  # a terminal over ssh is slow
        self._new_app, self._pages, self._follows = new_app, pages, follows
        self._workstream = workstream
        self._folder = layout.find_project(new_app().folder)
        self._rows: dict[str, Rows] = {}
        self.view: BoardView | None = None
        self._active = "now"
        self._reading = asyncio.Lock()
        self._cache = FileCache(time.time_ns)
        self.readings = 0

    def compose(self) -> ComposeResult:
        """Three tabs with a table each, a line for errors, and the keys."""
        yield Static(id="fault")
        with TabbedContent(initial="now"):
            with TabPane("1 Now", id="now"):
                with VerticalScroll(id="status-pane", can_focus=False):
                    yield Static(safe_text("reading the project …", "dim"), id="status")
                yield DataTable[Text](id="attention", cursor_type="row", zebra_stripes=True)
            with TabPane("2 Plans", id="plans"):
                yield Input(placeholder="words of a plan, its state, phase or files", id="filter")
                yield DataTable[Text](id="plan-table", cursor_type="row", zebra_stripes=True)
                with VerticalScroll(classes="detail", can_focus=False):
                    yield Static(id="plan-detail")
            with TabPane("3 Jobs", id="jobs"):
                yield DataTable[Text](id="job-table", cursor_type="row", zebra_stripes=True)
                with VerticalScroll(classes="detail", can_focus=False):
                    yield Static(id="job-detail")
        yield Footer()

    def on_mount(self) -> None:
        """Prepare the tables, read, and follow the files."""
        for name, columns in _COLUMNS.items():
            self._table(name).add_columns(*columns)
        self.query_one("#filter").display = False
        self._table("attention").focus()
        self._follow()

    @work(group="follow")
    async def _follow(self) -> None:
        await self.read()
        if not self._follows:
            return
        planning = os.path.join(self._folder, layout.PLANNING)
        async for changes in awatch(
            planning, debounce=400, watch_filter=None, rust_timeout=_TICK_MS, yield_on_timeout=True
        ):
            if changes or (self.view and any(job.is_running for _, job in self.view.jobs)):
                await self.read()

    async def read(self) -> None:
        """Read the project and show it; what is wrong with it is shown above the last reading."""
        async with self._reading:
            try:
                self.view = await asyncio.to_thread(self._fresh_view)
            except FairleadError as error:
                self._say_fault(error)
            else:
                self._show(self.view)
            self.readings += 1

    def _fresh_view(self) -> BoardView:
        """The project as it is now; files that did not change are not read again."""
        app = self._new_app()
        self._cache.next_round()
        app.cache = self._cache
        return board_view(app, self._workstream)

    # -- what is shown -----------------------------------------------------------------------

    def _table(self, name: str) -> DataTable[Text]:
        return self._below.query_one(f"#{name}", DataTable)

    @property
    def _below(self) -> Screen[object]:
        """The board itself, also while a dialog covers it."""
        return self.screen_stack[0]

    def _say_fault(self, error: FairleadError) -> None:
        hint = f"\n→ {error.hint}" if error.hint else ""
        fault = self._below.query_one("#fault", Static)
        fault.update(safe_text(f"{error.message}{hint}", "red"))
        fault.display = True

    def _show(self, view: BoardView) -> None:
        fault = self._below.query_one("#fault", Static)
        fault.update(safe_text("\n".join(view.damaged), "red"))
        fault.display = bool(view.damaged)
        width = max(self.size.width - 4, 40)
        self._below.query_one("#status", Static).update(
            page_text(self._pages.status(view.status, width))
        )
        self._fill("attention", dict(map(_attention_row, view.attention)))
        self._table("attention").display = bool(view.attention)
        self._fill("plan-table", self._plan_rows(view))
        self._fill("job-table", dict(_job_row(record, job) for record, job in view.jobs))
        self.refresh_bindings()
        self._show_detail(self._active)

    def _plan_rows(self, view: BoardView) -> Rows:
        wanted = self._below.query_one("#filter", Input).value.casefold().split()
        cards = [card for card in view.plans if _matches(card, wanted)]
        cards.sort(key=lambda card: _PLAN_ORDER.index(card.state))
        return dict(map(_plan_row, cards[:_MOST_ROWS]))

    def _fill(self, name: str, rows: Rows) -> None:
        """Replace the rows of a table if they changed; the chosen row stays chosen."""
        if self._rows.get(name) == rows:
            return
        table, chosen = self._table(name), self._chosen(name)
        self._rows[name] = rows
        table.clear()
        for key, cells in rows.items():
            table.add_row(*cells, key=key)
        if chosen in rows:
            table.move_cursor(row=list(rows).index(chosen))

    def _chosen(self, name: str) -> str:
        rows, at = list(self._rows.get(name, ())), self._table(name).cursor_row
        return rows[at] if 0 <= at < len(rows) else ""

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the details of the row below its table."""
        if event.data_table.id == _TABLE_OF_TAB[self._active] and self.screen_stack:
            self.refresh_bindings()
            self._show_detail(self._active)

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        """Show the details of the tab."""
        self._active = event.pane.id or "now"
        self.refresh_bindings()
        self._show_detail(self._active)

    @work(group="detail", exclusive=True)
    async def _show_detail(self, tab: str) -> None:
        if tab == "plans":
            card = self._card()
            self._below.query_one("#plan-detail", Static).update(_plan_text(card) if card else "")
        elif tab == "jobs":
            job = self._job()
            page = await self._job_text(job) if job else Text()
            self._below.query_one("#job-detail", Static).update(page)

    async def _job_text(self, job: OpenJob) -> Text:
        width = max(self.size.width - 6, 40)
        try:
            report = await asyncio.to_thread(lambda: self._new_app().jobs.report(job.id))
        except FairleadError as error:
            return safe_text(error.message, "red")
        return page_text(self._pages.job(report, job, width))

    # -- what is chosen ------------------------------------------------------------------------

    def _card(self) -> PlanCard | None:
        chosen = self._chosen("plan-table")
        cards = self.view.plans if self.view else ()
        return next((card for card in cards if card.plan.id == chosen), None)

    def _item(self) -> AttentionItem | None:
        """The job of the chosen row, with the question that it asks."""
        items = dict(map(_attention_key, self.view.attention)) if self.view else {}
        if self._active == "now":
            return items.get(self._chosen("attention"))
        chosen = self._chosen("job-table") if self._active == "jobs" else ""
        asking = [item for item in items.values() if item.job.id == chosen]
        jobs = self.view.jobs if self.view else ()
        others = [AttentionItem(job) for _, job in jobs if job.id == chosen]
        return next(iter([*asking, *others]), None)

    def _job(self) -> OpenJob | None:
        item = self._item()
        return item.job if item else None

    # -- keys ----------------------------------------------------------------------------------

    def action_tab(self, name: str) -> None:
        """Go to a tab."""
        self._below.query_one(TabbedContent).active = name
        self._active = name
        self._table(_TABLE_OF_TAB[name]).focus()

    def action_move(self, action: str) -> None:
        """Move in the table of the tab."""
        getattr(self._table(_TABLE_OF_TAB[self._active]), f"action_{action}")()

    def action_filter(self) -> None:
        """Search the plans."""
        self.action_tab("plans")
        field = self._below.query_one("#filter", Input)
        field.display = True
        field.focus()

    def action_unfilter(self) -> None:
        """End the search."""
        field = self._below.query_one("#filter", Input)
        field.value = ""
        field.display = False
        self.action_tab(self._active)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the plans that match."""
        if event.input.id == "filter" and self.view:
            self._fill("plan-table", self._plan_rows(self.view))
            self._show_detail("plans")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go from the filter to the plans it found."""
        if event.input.id == "filter":
            self._table("plan-table").focus()

    @work
    async def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Open a plan or a job, or answer a question."""
        item, card = self._item(), self._card() if self._active == "plans" else None
        if card:
            with self._refusals():
                path = card.plan.path.removeprefix(f"{layout.PLANNING}/")
                document = await asyncio.to_thread(lambda: document_view(self._new_app(), path))
                self.push_screen(PageDialog(path, safe_text(document.text)))
        elif item and item.question and self._active == "now":
            self.action_answer()
        elif item:
            self.push_screen(PageDialog(item.job.id, await self._job_text(item.job)))

    @work
    async def action_answer(self) -> None:
        """Answer the question of the chosen job."""
        item = self._item()
        if item is None or item.question is None:
            self._say("choose a job that waits for an answer", is_warning=True)
            return
        job, question = item.job.id, item.question
        text = "\n".join((question.text, *question.details))
        answer = await self.push_screen_wait(TextDialog(job, text, question.options))
        if answer:
            await self._act(lambda app: _answer(app, job, question.id, answer))

    @work
    async def action_cancel(self) -> None:
        """End the chosen job."""
        if not (job := self._chosen_job()):
            return
        if await self.push_screen_wait(ConfirmDialog(f"End {job}? Its work so far is kept.")):
            await self._act(lambda app: _cancel(app, job))

    @work
    async def action_retry(self) -> None:
        """Make a new job from a council that failed or is blocked."""
        if job := self._chosen_job():
            await self._act(lambda app: _retry(app, job))

    @work
    async def action_start(self) -> None:
        """Start a job in the background."""
        kind = await self.push_screen_wait(
            TextDialog("Start a job", "Which kind?", STARTED_KINDS, is_choice=True)
        )
        if not kind:
            return
        subject = await self.push_screen_wait(TextDialog(f"Start {kind}", "Goal, or phase number"))
        if not subject:
            return
        agents = await self.push_screen_wait(
            TextDialog(f"Start {kind}", "Who works on it?", tuple(_WHO), is_choice=True)
        )
        form = {"kind": kind, "subject": subject, "rehearse": _WHO.get(agents, "")}
        if agents and await self._confirmed(f"Start {kind} in the background: {subject}\n{agents}"):
            await self._act(lambda app: _said(ACTIONS["start"](app, form)))

    @work
    async def action_resume(self) -> None:
        """Continue a job that was interrupted or answered, in the background."""
        if job := self._chosen_job():
            await self._act_if("resume", {"job": job}, f"Continue {job} in the background?")

    @work
    async def action_veto(self) -> None:
        """Stop a council for good."""
        if not (job := self._chosen_job()):
            return
        if why := await self.push_screen_wait(TextDialog(f"Veto {job}", "The reason")):
            question = f"Stop {job} for good? A veto cannot be taken back."
            await self._act_if("veto", {"job": job, "why": why}, question)

    @work
    async def action_rule(self) -> None:
        """Decide an open item of a blocked council."""
        if not (job := self._chosen_job()):
            return
        items: tuple[str, ...] = ()
        with self._refusals():
            items = await asyncio.to_thread(lambda: _open_items(self._new_app(), job))
        if not items:
            self._say(f"{job} has no open objection", is_warning=True)
            return
        title = f"Rule on an objection of {job}"
        chosen = await self.push_screen_wait(TextDialog(title, "", items, is_choice=True))
        if not chosen:
            return
        text = await self.push_screen_wait(TextDialog(title, chosen))
        form = {"job": job, "item": chosen.partition(" ")[0], "text": text}
        if text:
            await self._act_if("rule", form, f"Record this ruling?\n{chosen}\n{text}")

    @work
    async def action_repair(self) -> None:
        """Show the repair of the documents, and apply it."""
        diff = ""
        with self._refusals():
            diff = await asyncio.to_thread(lambda: repair_diff(self._new_app()))
        if not diff:
            self._say("nothing can be repaired without you: fairlead doctor", is_warning=True)
            return
        await self._act_if("repair", {}, f"Apply this repair?\n\n{diff}")

    async def _confirmed(self, question: str) -> bool:
        answer = await self.push_screen_wait(ConfirmDialog(question))
        return answer is True

    async def _act_if(self, action: str, form: dict[str, str], question: str) -> None:
        """Do an action of the boards if the person says yes."""
        if await self._confirmed(question):
            await self._act(lambda app: _said(ACTIONS[action](app, form)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer an action where it is possible; the service still decides."""
        del parameters
        if action == "repair":
            return bool(self.view and self.view.status.drift)
        if action not in ("resume", "veto", "rule"):
            return True
        job = self._job() if self.view else None
        if job is None or self._active == "plans":
            return False
        if action == "resume":
            return job.state in (JobState.INTERRUPTED, JobState.OPEN)
        is_over = job.state is JobState.ENDED
        return job.kind == COUNCIL and is_over == (action == "rule")

    @work
    async def action_capture(self) -> None:
        """Record an idea."""
        if idea := await self.push_screen_wait(TextDialog("Record an idea")):
            await self._act(lambda app: f"Recorded: {app.captures.todo(new_todo(idea)).title}")

    @work
    async def action_reread(self) -> None:
        """Read the project again."""
        await self.read()

    def _chosen_job(self) -> str:
        job = self._job()
        if job is None:
            self._say("choose a job in Now or Jobs", is_warning=True)
        return job.id if job else ""

    async def _act(self, action: Callable[[App], str]) -> None:
        with self._refusals():
            self._say(await asyncio.to_thread(lambda: action(self._new_app())))
            await self.read()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Show the message of a service that refuses."""
        try:
            yield
        except FairleadError as error:
            hint = f"\n{error.hint}" if error.hint else ""
            self._say(f"{error.message}{hint}", is_warning=True)

    def _say(self, text: str, *, is_warning: bool = False) -> None:
        notify = partial(self.notify, severity="warning") if is_warning else self.notify
        notify(safe_text(text).plain, timeout=8, markup=False)


def _said(done: str | StartedJob) -> str:
    return done if isinstance(done, str) else done.said


def _open_items(app: App, job: str) -> tuple[str, ...]:
    """The objections of a council that a person can rule on: id and reason."""
    report = app.jobs.report(job)
    if not isinstance(report, CouncilReport):
        return ()
    objections = council_table(app, report).objections
    return tuple(f"{each.id} {one_row(each.why)}" for each in objections if each.state == "open")


def _answer(app: App, job: str, question: str, text: str) -> str:
    answered = app.jobs.answer(job, text, question)
    return f"Answered {answered.id}. Continue the job with: {app.jobs.record(job).command}"


def _cancel(app: App, job: str) -> str:
    ended = app.jobs.cancel(job)
    if ended.ended_at:
        return f"{ended.id} is {ended.status}"
    return f"{ended.id} is running; it ends after the next answer"


def _retry(app: App, job: str) -> str:
    child = app.council.retry(job, "")
    return f"Created {child}. Start it with: fairlead run --job {child}"


def _attention_key(item: AttentionItem) -> tuple[str, AttentionItem]:
    return f"{item.job.id}/{item.question.id if item.question else ''}", item


def _attention_row(item: AttentionItem) -> tuple[str, tuple[Text, ...]]:
    job = item.job
    state = "waits" if item.question else job.status if job.state == "ended" else str(job.state)
    what = item.question.text if item.question else job.note or f"{job.hint} {job.command}"
    cells = (one_row(state, _STYLES.get(state, "")), one_row(job.id), one_row(what))
    return _attention_key(item)[0], cells


def _plan_row(card: PlanCard) -> tuple[str, tuple[Text, ...]]:
    plan = card.plan
    open_gates = [gate for gate in card.gates if gate.gate.is_open]
    gate = f"{open_gates[0].task} {open_gates[0].gate.status}" if open_gates else ""
    return plan.id, (
        one_row(card.state, _STYLES.get(card.state, "dim")),
        one_row(plan.id),
        one_row(str(plan.wave)),
        one_row(gate),
        one_row(plan.objective),
    )


def _job_row(record: Any, job: OpenJob) -> tuple[str, tuple[Text, ...]]:
    return job.id, (
        one_row(job.state, _STYLES.get(job.state, "dim")),
        one_row(job.id),
        one_row(job.status, _STYLES.get(job.status, "")),
        one_row(job.phase),
        one_row(record.started_at[:16].replace("T", " ")),
        one_row(job.note),
    )


def _matches(card: PlanCard, wanted: Sequence[str]) -> bool:
    plan = card.plan
    words = (plan.id, card.state, f"phase {card.phase}", plan.objective, *plan.files_modified)
    text = " ".join(words).casefold()
    return all(word in text for word in wanted)


def _plan_text(card: PlanCard) -> Text:
    plan = card.plan
    lines: list[PageLine] = [
        ((f"{plan.id}  ", "bold"), plan.objective),
        (("phase ", "dim"), card.phase, ("  wave ", "dim"), str(plan.wave)),
    ]
    for name, values in (
        ("depends on", plan.depends_on),
        ("blocked by", plan.blocked_by),
        ("files", plan.files_modified),
    ):
        if values:
            lines.append(((f"{name} ", "dim"), ", ".join(values)))
    lines += [((f"{each.severity} ", "red"), each.what) for each in plan.faults]
    for gate in card.gates:
        runs = f"  run {len(gate.runs)}" if gate.runs else ""
        status = str(gate.gate.status)
        lines.append((f"{gate.task} ", (status, _STYLES.get(status, "cyan")), runs))
        remarks = (gate.note, *gate.concerns)
        lines += [(f"  {remark.strip().splitlines()[0]}",) for remark in remarks if remark.strip()]
    return page_text(lines)
