"""`fairlead demo`: a goal becomes merged commits in a scratch project, with scripted models."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.core.values import replace
from fairlead.interfaces.cli.options import json_option
from fairlead.interfaces.cli.output import Line, OutputStream, Styled, cut, report

if TYPE_CHECKING:
    from fairlead.council.model import CouncilJob

TITLE, GOAL = "Harbour lights", "A log of every lamp"
_STATE = "XDG_STATE_HOME"
_WIDTH = 100
_COMMITS = 8
# The same for real: what is missing, a project, and the goal.
NEXT_COMMANDS = (
    ("fairlead doctor agents", "which agents are installed, and who is logged in"),
    ('fairlead init "My project" --yes', "in your own repository"),
    (
        'fairlead run "What you want"',
        "the same job, with real models; add --dry-run to see the price",
    ),
)


@click.command(epilog="Example: fairlead demo")
@click.option(
    "--svg", "svg_file", default="", metavar="FILE", help="Also save the output as a picture."
)
@json_option
def demo(*, svg_file: str, as_json: bool) -> int:
    """Watch a goal become merged commits, without a model.

    You see a council, its votes, waves and gates. Runs `fairlead init` and `fairlead run` in a
    scratch folder with the scripted agent, in about half a minute. One verify command fails, one
    review rejects and one seat asks for a revision, so that you see how that is handled. Nothing of
    yours is read or changed.
    """
    page = DemoPage(is_shown=not as_json)
    start = time.monotonic()
    job, project = run_demo(page)
    if svg_file:
        from fairlead.interfaces.cli.picture import picture

        with open(svg_file, "w", encoding="utf-8") as file:
            file.write(picture("demo", "fairlead demo", page.lines))
    content = {
        "ok": job.status == "DONE",
        "status": str(job.status),
        "folder": project,
        "job": job.id,
        "seconds": round(time.monotonic() - start, 1),
        "svg": svg_file,
        "next": [command for command, _ in NEXT_COMMANDS],
    }
    if as_json:
        report(content, (), as_json=True)
    return 0 if job.status == "DONE" else 5


def run_demo(page: DemoPage) -> tuple[CouncilJob, str]:
    """Run the demo and show it on a page; the job, and the folder of the project."""
    start = time.monotonic()
    folder = tempfile.mkdtemp(prefix="fairlead-demo-")
    project = os.path.join(folder, "harbour-lights")
    os.mkdir(project)
    with _own_state(os.path.join(folder, "state")):
        app, job = _run_job(project, page)
        page.show(*_ending_lines(app, job, time.monotonic() - start))
    return job, project


class DemoPage:
    """Prints lines as they come, above a live table if there is one, and remembers them."""

    def __init__(self, *, is_shown: bool) -> None:
        self.lines: list[Line] = []
        self.is_shown = is_shown

    def show(self, *lines: Line) -> None:
        """Print lines."""
        for line in lines:
            self.lines.append(line)
            if self.is_shown:
                # The stream of this moment: a live table replaces it while it is on the screen.
                OutputStream(sys.stdout).line(*line)


@contextmanager
def _own_state(folder: str) -> Iterator[None]:
    """Keep what Fairlead remembers about the demo out of the user's own folder."""
    before = os.environ.get(_STATE)
    os.environ[_STATE] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ[_STATE]
        else:
            os.environ[_STATE] = before


def _run_job(project: str, page: DemoPage) -> tuple[App, CouncilJob]:
    from fairlead.interfaces.cli.run import continue_job
    from fairlead.interfaces.cli.run_story import RunStory
    from fairlead.project.first_documents import NewProject
    from fairlead.vcs.copies import make_repository

    page.show(
        (
            Styled("A goal becomes merged commits.", "bold"),
            " The models are scripted, the rest is real.",
        ),
        (),
        _typed("fairlead", "init", TITLE, "--yes"),
    )
    App(project).new_memory().init(NewProject(title=TITLE, dialect="gsd", first_phase=""))
    make_repository(project, "Start")
    app = App(project)
    page.show(
        (Styled("✓ ", "green"), "the project's memory is in .planning, in plain Markdown"),
        (),
        _typed("fairlead", "run", GOAL, "--rehearse"),
    )
    council_run = app.council_run(is_rehearsed=True, is_preview=False)
    execution = app.plan_execution("", "", is_rehearsed=True)
    council_run = replace(council_run, execution=execution)
    job_id = app.council.begin(GOAL, council_run)
    story = RunStory(page.show, App(project).roadmaps.plans)
    # In a terminal the live tables are below the story; elsewhere the story is all there is.
    output = {"as_events": False, "as_json": not (page.is_shown and sys.stdout.isatty())}
    job = continue_job(app, job_id, council_run, output, may_execute=True, also=story.report)
    return App(project), job


def _typed(*words: str) -> Line:
    return Styled("$ ", "dim"), Styled(" ".join(_quoted(word) for word in words), "cyan")


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else shlex.quote(word)


def _ending_lines(app: App, job: CouncilJob, seconds: float) -> Sequence[Line]:
    from fairlead.vcs.copies import log_lines

    style = "green" if job.status == "DONE" else "red"
    commits = log_lines(app.place, _COMMITS)
    return (
        (Styled(str(job.status).ljust(10), style), f"after {seconds:.0f} s: {_outcome(job)}"),
        (),
        _typed("git", "log", "--oneline"),
        *((cut(line, _WIDTH),) for line in commits),
        (),
        (Styled("Look around:", "bold"),),
        (Styled(f"  cd {shlex.quote(app.place)} && fairlead job show {job.id}", "cyan"),),
        (Styled("The same for real:", "bold"),),
        *(
            (Styled(f"  {command:<34}", "cyan"), Styled(f"  {why}", "dim"))
            for command, why in NEXT_COMMANDS
        ),
    )


def _outcome(job: CouncilJob) -> str:
    plans = f"{job.exec.summaries} of {job.exec.plans} plans done, verified, reviewed and merged"
    return plans if job.status == "DONE" else job.note or str(job.blocker_reason)
