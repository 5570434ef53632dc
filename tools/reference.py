"""Writes docs/reference from the code, or says with --check which pages are out of step.

Commands come from the click tree, errors from the tree of classes, settings from their table,
file names from the layout. Nothing is said twice: a page that needs another sentence gets it
from the docstring it was made of.
"""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from fairlead import errors
from fairlead.interfaces.cli.main import cli
from fairlead.model.config import SETTINGS, Setting
from fairlead.model.council import EDGES, TERMINAL
from fairlead.model.job import JobStatus
from fairlead.model.roles import ROLES, Role
from fairlead.store import layout, layout_daily, layout_roles

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script it stands alone
from tools import prompt_sizes

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
NOTE = "<!-- Written by `make docs` from the code. Change it there. -->"

ABOUT_ERRORS = """\
The code never changes: scripts may rely on it. `--json` carries it as `code`, beside the
message and a hint that says what to do next."""

ABOUT_STATUSES = """\
A job that only carries out a phase begins with EXECUTING. Any one of its guards opens a way; to
BLOCKED and FAILED they are the codes of the reason. What they mean:
[the council](../guides/council.md)."""

ABOUT_SETTINGS = """\
A project's settings stand in `.planning/config.json`, a person's in
`$XDG_CONFIG_HOME/fairlead/config.json`. The project's win; `fairlead config list` shows
where each value comes from."""

# What the layout's names are for. A path that the layout gains has to be told here.
FILES = {
    "ATTRIBUTES": "which documents git merges with `fairlead merge-driver`",
    "PLANNING": "the project's memory; the nearest folder that has it is the project",
    "STATE": "where the project stands: a digest of the other files, with decisions and blockers",
    "PROJECT": "what the project is and why",
    "REQUIREMENTS": "what it must do, as checkable items",
    "ROADMAP": "the phases, in order",
    "CONFIG": "the project's settings; those of Fairlead stand under `fairlead`",
    "WAITING": "the question that the project waits for a person to answer; there only while it waits",
    "CONTINUE": "the hand-over for the next session, written ahead at every step of a gate",
    "ACTIVE_WORKSTREAM": "the name of the workstream that is looked at when there is no STATE.md",
    "PHASES": "one folder a phase, with its plans and summaries",
    "JOBS": "one folder a job: its record, its gates, its questions, its journal",
    "PLAN_FILE": "the Plan Phase: goal, requirements, modules, exit criteria; kept out of git",
    "EXEC_FILE": "the modules after approval; kept out of git",
    "PLAN_IGNORED": "the entry in `.gitignore` for both, and for their backups",
    "LEDGER": "the evidence of each plan: one append-only file a plan, each line bound to the one before",
    "TODOS": "ideas that wait, one file each; listed in STATE.md",
    "DONE_TODOS": "ideas that are done, or whose phase is",
    "NOTES": "ideas that nobody counts, one file each",
    "HANDOFF": "what is open while the project is paused; put away by `fairlead resume`",
    "QUICK": "small tasks outside of the roadmap, a folder each",
    "DEBUG": "one file a fault that is looked for: its hypotheses, evidence and fix",
    "DEBUG_RESOLVED": "faults that were found and fixed",
    "KNOWLEDGE": "the causes of resolved faults, a paragraph each",
    "RESEARCH_FOLDER": "what was found out about the project in four directions, and a summary",
    "CODEBASE": "the map of code that was there before the project, found by code",
    "PLAN_DESK": "what `.planning/.fairlead/` is, where there is no `.planning/`",
    "DESK": "the lock, unfinished work and rescued versions; ignores itself in git",
}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {
        "commands.md": commands_page(cli),
        "errors.md": errors_page(errors.FairleadError),
        "configuration.md": configuration_page(SETTINGS),
        "files.md": files_page({**vars(layout), **vars(layout_daily), **vars(layout_roles)}),
        "prompts.md": prompts_page(),
        "roles.md": roles_page(ROLES),
        "statuses.md": statuses_page(),
    }


def commands_page(root: click.Group, name: str = "fairlead") -> str:
    """Each command with its usage, meaning, options and example."""
    parts = [
        "# Commands",
        "Run `fairlead COMMAND --help` for the same text in the terminal.",
        "## Exit codes",
        table(("code", "means"), exit_codes(errors.FairleadError)),
    ]
    for context in commands_below(click.Context(root, info_name=name)):
        parts += command_section(context)
    return page(parts)


def commands_below(context: click.Context) -> Iterator[click.Context]:
    """The command of a context and all commands under it, in the order of their help."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None and not command.hidden:
                yield from commands_below(click.Context(command, info_name=name, parent=context))


def command_section(context: click.Context) -> list[str]:
    """One command as Markdown."""
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## {context.command_path}", fenced(usage), *prose(command.help or "")]
    if options := list(options_of(context)):
        parts.append(table(("option", "meaning"), options))
    return [*parts, *prose(command.epilog or "")]


def options_of(context: click.Context) -> Iterator[tuple[str, str]]:
    """What can be given, and what it means. Every command has --help, so no command tells it."""
    for param in context.command.params:
        record = param.get_help_record(context)
        # An argument without a help text stands in the usage already.
        if record is not None and (record[1] or isinstance(param, click.Option)):
            yield f"`{record[0]}`", record[1]


def errors_page(root: type[errors.FairleadError]) -> str:
    """Every error by its stable code, family by family."""
    parts = ["# Errors", ABOUT_ERRORS]
    for family in root.__subclasses__():
        rows = [(f"`{kind.code}`", summary(kind)) for kind in (family, *kinds_below(family))]
        parts += [
            f"## {family.__name__}: exit {family.exit_code}",
            table(("code", "meaning"), rows),
        ]
    return page(parts)


def statuses_page() -> str:
    """The statuses of a job, every way from one to another, and what opens it."""
    rows = [
        (
            str(at),
            edge.source,
            edge.target,
            edge.set_by,
            ", ".join(f"`{guard}`" for guard in edge.guards),
        )
        for at, edge in enumerate(EDGES, 1)
    ]
    counts = f"{len(JobStatus)} statuses, {len(EDGES)} ways between them and no others."
    final = f"From {', '.join(TERMINAL)} none leads on."
    heads = ("way", "from", "to", "by", "opened by")
    return page(["# Statuses of a job", f"{counts} {final}", ABOUT_STATUSES, table(heads, rows)])


def kinds_below(kind: type[errors.FairleadError]) -> Iterator[type[errors.FairleadError]]:
    """Every class below a class, in the order they are written."""
    for child in kind.__subclasses__():
        yield child
        yield from kinds_below(child)


def exit_codes(root: type[errors.FairleadError]) -> list[tuple[str, str]]:
    """The numbers a command ends with: one a family, and those that are no errors."""
    families = {kind.exit_code: summary(kind) for kind in root.__subclasses__()}
    told = {
        0: "Done.",
        1: "Found what it was asked to look for (`check`).",
        130: "Interrupted from the keyboard.",
    } | families
    return [(str(code), meaning) for code, meaning in sorted(told.items())]


def configuration_page(settings: Iterable[Setting]) -> str:
    """Every setting with its default, what it takes and what it means."""
    rows = [
        (f"`{setting.key}`", f"`{json.dumps(setting.default)}`", setting.takes, setting.meaning)
        for setting in settings
    ]
    return page(
        [
            "# Configuration",
            ABOUT_SETTINGS,
            table(("setting", "default", "takes", "meaning"), rows),
        ]
    )


def files_page(names: Mapping[str, object]) -> str:
    """Every path that the layout knows, with its size limit."""
    paths = {
        name: path
        for name, path in names.items()
        if name.isupper()
        and isinstance(path, str)
        and path.startswith((layout.PLANNING, ".claude/"))
    }
    rows = [(f"`{path}`", FILES[name], limit(path)) for name, path in paths.items()]
    return page(["# Files", table(("path", "holds", "limit"), rows)])


def roles_page(roles: Iterable[Role]) -> str:
    """Every role: who asks it, what it reads and gives, and what it may take."""
    titles = ("role", "asked by", "reads", "gives", "tools", "model", "minutes", "prompt tokens")
    rows = [
        (
            each.name,
            f"`{each.asked_by}`",
            ", ".join(each.reads),
            each.output or "an answer",
            ", ".join(each.tools),
            f"{each.tier} ({each.kind})",
            f"{each.wall.total_seconds() / 60:.0f}",
            f"{each.prompt_tokens:,}",
        )
        for each in roles
    ]
    about = (
        "A role is a prompt of ours, the shape of its answer, and limits. Those that give documents"
        " write them into a scratch folder; the engine reads, judges and writes them into the"
        " project. Tools are offered where a program lets one choose; a role that only answers is"
        " never offered one that writes. The model is routed by config.json, see"
        " [from an idea to plans](../guides/workflows.md)."
    )
    return page(["# Roles", about, table(titles, rows)])


def prompts_page() -> str:
    """How long the prompts of each workflow are, beside those of the reference tool."""
    titles = ("workflow", "who is asked", "tokens", "the reference tool")
    return page(["# Prompts", prompt_sizes.about(), table(titles, prompt_sizes.rows())])


def limit(path: str) -> str:
    """How large a document may be; folders have no limit."""
    is_document = path.endswith((".md", ".json"))
    return f"{layout.limit_of(path) // 1024} KiB" if is_document else "–"


def summary(kind: type) -> str:
    """The first line of a docstring."""
    return inspect.cleandoc(kind.__doc__ or "").split("\n", 1)[0]


def prose(text: str) -> Iterator[str]:
    r"""Help text as paragraphs. A paragraph after `\b` keeps its lines, as in the terminal."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield fenced(inspect.cleandoc(paragraph.removeprefix("\b")))
        elif paragraph.startswith("Example: "):
            yield "Example:"
            yield fenced(paragraph.removeprefix("Example: "))
        elif paragraph:
            yield " ".join(paragraph.split())


def fenced(text: str) -> str:
    """Text that is shown as it is."""
    return f"```\n{text.strip(chr(10))}\n```"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def page(parts: Iterable[str]) -> str:
    """Parts with a blank line between them."""
    return "\n\n".join([NOTE, *parts]) + "\n"


def stale_pages(folder: Path) -> dict[str, str]:
    """The pages that are not what the code says, with what they should be."""
    return {name: text for name, text in pages().items() if text != written(folder / name)}


def written(path: Path) -> str:
    """What stands there now, or nothing."""
    return path.read_text("utf-8") if path.is_file() else ""


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = stale_pages(REFERENCE)
    if "--check" in arguments:
        for name in stale:
            print(f"docs/reference/{name} is out of step with the code; run: make docs")
        return 1 if stale else 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in stale.items():
        (REFERENCE / name).write_text(text, "utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
