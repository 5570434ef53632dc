"""Generate docs/reference from the code, or with --check list the pages that are out of date.

Commands come from the click tree, errors from their classes, settings from their table, and paths
from the modules that define them. To change a description, change it in the code.
"""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import click

from fairlead.core import errors
from fairlead.core.settings import SETTINGS, Setting
from fairlead.council.model import TERMINAL, TRANSITIONS
from fairlead.interfaces.cli.main import cli
from fairlead.jobs import paths as job_paths
from fairlead.jobs.model import JobStatus
from fairlead.planphase import paths as planphase_paths
from fairlead.project import paths as project_paths
from fairlead.store import layout, staging
from fairlead.workflows import paths as workflow_paths
from fairlead.workflows.roles import ROLES, Role

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script
from tools import prompt_sizes

PACKAGE = Path(errors.__file__).parents[1]
# Every package declares its errors in a module of this name.
ERROR_MODULES = sorted(
    ".".join(("fairlead", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("errors.py")
)
REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
NOTE = "<!-- Generated from the code by `make docs`; do not edit. -->"

ABOUT_ERRORS = """\
The code of an error never changes, so scripts can rely on it. `--json` prints it as `code`, with
the message and a hint that names the next command."""

ABOUT_STATUSES = """\
A transition happens when one of its guards is true. For BLOCKED and FAILED, the guard is the code of
the reason; [the council](../guides/council.md) explains them. A job that only executes a phase
begins with EXECUTING."""

ABOUT_SETTINGS = """\
Project settings are in `.planning/config.json`, your own settings in
`$XDG_CONFIG_HOME/fairlead/config.json`. Project settings take precedence. `fairlead config list`
shows where each value comes from."""

# The description of each path. A new path needs a row here.
FILES = {
    "ATTRIBUTES": "the documents that git merges with `fairlead merge-driver`",
    "PLANNING": "the project's memory; a command uses the nearest one, from the current folder upwards",
    "STATE": "the state of the project: a digest of the other files, with decisions and blockers",
    "PROJECT": "the purpose of the project",
    "REQUIREMENTS": "the requirements, as items to check off",
    "ROADMAP": "the phases, in order",
    "CONFIG": "the project's settings; those of Fairlead are under `fairlead`",
    "WAITING": "the question that a person has to answer; exists only while the project waits",
    "CONTINUE": "the handover for the next session, written at every step of a gate",
    "ACTIVE_WORKSTREAM": "the name of the workstream that is used when there is no STATE.md",
    "PHASES": "one folder per phase, with its plans and summaries",
    "JOBS": "one folder per job: record, gates, questions, journal",
    "PLAN_FILE": "the Plan Phase: goal, requirements, modules, exit criteria; kept out of git",
    "EXEC_FILE": "the modules after approval; kept out of git",
    "PLAN_IGNORED": "the entry in `.gitignore` for these two files and their backups",
    "LEDGER": "the evidence: one append-only file per plan; each line has the hash of the previous one",
    "TODOS": "pending todos, one file each; listed in STATE.md",
    "DONE_TODOS": "completed todos",
    "NOTES": "notes, one file each; not counted",
    "HANDOFF": "the open work of a paused project; moved away by `fairlead resume`",
    "QUICK": "small tasks outside the roadmap, one folder each",
    "DEBUG": "open debug sessions, one file each: hypotheses, evidence and fix",
    "DEBUG_RESOLVED": "resolved debug sessions",
    "KNOWLEDGE": "the causes of resolved bugs, one paragraph each",
    "RESEARCH_FOLDER": "the research on the project: four documents and a summary",
    "CODEBASE": "the map of existing code, made without a model",
    "PLAN_STAGING": "the same as `.planning/.fairlead`, if there is no `.planning`",
    "STAGING": "the lock, unfinished writes, the undo record, rescued and removed files; hidden from git",
}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {
        "commands.md": commands_page(cli),
        "errors.md": errors_page(errors.FairleadError),
        "configuration.md": configuration_page(SETTINGS),
        "files.md": files_page(path_names()),
        "prompts.md": prompts_page(),
        "roles.md": roles_page(ROLES),
        "statuses.md": statuses_page(),
    }


def commands_page(root: click.Group, name: str = "fairlead") -> str:
    """Every command with its usage, description, options and example."""
    parts = [
        "# Commands",
        "Run `fairlead COMMAND --help` for the same text in the terminal.",
        "## Exit codes",
        table(("code", "meaning"), exit_codes(errors.FairleadError)),
    ]
    for context in commands_below(click.Context(root, info_name=name)):
        parts += command_section(context)
    return page(parts)


def commands_below(context: click.Context) -> Iterator[click.Context]:
    """A command and all commands below it, in the order of the help."""
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
    """The options of a command with their descriptions, without --help."""
    for param in context.command.params:
        record = param.get_help_record(context)
        # An argument without a description is already part of the usage.
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
    """The statuses of a job, every transition between them, and its guards."""
    rows = [
        (
            str(at),
            edge.source,
            edge.target,
            edge.set_by,
            ", ".join(f"`{guard}`" for guard in edge.guards),
        )
        for at, edge in enumerate(TRANSITIONS, 1)
    ]
    counts = f"A job has {len(JobStatus)} statuses and {len(TRANSITIONS)} transitions between them."
    final = f"{', '.join(TERMINAL[:-1])} and {TERMINAL[-1]} are final."
    heads = ("number", "from", "to", "set by", "guards")
    return page(["# Job statuses", f"{counts} {final}", ABOUT_STATUSES, table(heads, rows)])


def kinds_below(kind: type[errors.FairleadError]) -> list[type[errors.FairleadError]]:
    """Every class below a class, by package and in the order of the source."""
    for module in ERROR_MODULES:
        import_module(module)
    kinds = []
    for child in kind.__subclasses__():
        kinds += [child, *kinds_below(child)]
    return sorted(kinds, key=lambda kind: ERROR_MODULES.index(kind.__module__))


def exit_codes(root: type[errors.FairleadError]) -> list[tuple[str, str]]:
    """Every exit code: one per family of errors, and those that are not errors."""
    families = {kind.exit_code: summary(kind) for kind in root.__subclasses__()}
    meanings = {
        0: "Done.",
        1: "`check` found differences, or `merge-driver` found conflicts.",
        130: "Interrupted from the keyboard.",
    } | families
    return [(str(code), meaning) for code, meaning in sorted(meanings.items())]


def configuration_page(settings: Iterable[Setting]) -> str:
    """Every setting with its default, its values and its meaning."""
    rows = [
        (f"`{setting.key}`", f"`{json.dumps(setting.default)}`", setting.takes, setting.meaning)
        for setting in settings
    ]
    return page(
        [
            "# Configuration",
            ABOUT_SETTINGS,
            table(("setting", "default", "values", "meaning"), rows),
        ]
    )


def path_names() -> dict[str, object]:
    """Every name in the modules that define paths."""
    names: dict[str, object] = {}
    for module in (
        layout,
        project_paths,
        planphase_paths,
        staging,
        workflow_paths,
        job_paths,
    ):
        names |= vars(module)
    return names


def files_page(names: Mapping[str, object]) -> str:
    """Every path with its content and its size limit."""
    paths = {
        name: path
        for name, path in names.items()
        if name.isupper()
        and isinstance(path, str)
        and path.startswith((layout.PLANNING, ".claude/"))
    }
    rows = [(f"`{path}`", FILES[name], limit(path)) for name, path in paths.items()]
    return page(["# Files", table(("path", "content", "limit"), rows)])


def roles_page(roles: Iterable[Role]) -> str:
    """Every role with its command, inputs, output, tools, model and limits."""
    titles = ("role", "command", "reads", "writes", "tools", "model", "minutes", "prompt tokens")
    rows = [
        (
            role.name,
            f"`{role.asked_by}`",
            ", ".join(role.reads),
            role.output or "an answer",
            ", ".join(role.tools),
            f"{role.model_need.tier} ({role.model_need.kind})",
            f"{role.wall.total_seconds() / 60:.0f}",
            f"{role.prompt_tokens:,}",
        )
        for role in roles
    ]
    about = (
        "A role is a prompt, the form of its answer, and limits. A role that writes a document works"
        " in a scratch folder; Fairlead checks the document and writes it into the project. Tools"
        " are restricted if the agent supports it, and a role that only answers gets no tool that"
        " writes. config.json chooses the model: see"
        " [from an idea to plans](../guides/workflows.md)."
    )
    return page(["# Roles", about, table(titles, rows)])


def prompts_page() -> str:
    """The length of each workflow's prompts, compared with the reference tool."""
    titles = ("workflow", "roles", "tokens", "tokens in the reference tool")
    return page(["# Prompts", prompt_sizes.about(), table(titles, prompt_sizes.rows())])


def limit(path: str) -> str:
    """The size limit of a document; folders have none."""
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
    """Text in a code block."""
    return f"```\n{text.strip(chr(10))}\n```"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def page(parts: Iterable[str]) -> str:
    """A whole page, with a blank line between its parts."""
    return "\n\n".join([NOTE, *parts]) + "\n"


def stale_pages(folder: Path) -> dict[str, str]:
    """The pages that are out of date, with their correct text."""
    return {name: text for name, text in pages().items() if text != written(folder / name)}


def written(path: Path) -> str:
    """The text of a page, or nothing if there is none."""
    return path.read_text("utf-8") if path.is_file() else ""


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check compare them."""
    stale = stale_pages(REFERENCE)
    if "--check" in arguments:
        for name in stale:
            print(f"docs/reference/{name} is out of date; run: make docs")
        return 1 if stale else 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in stale.items():
        (REFERENCE / name).write_text(text, "utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
