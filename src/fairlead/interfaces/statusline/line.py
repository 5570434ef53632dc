"""The text of the status line: model, task or project state, folder, and optional parts.

Text from files, the repository and the host passes through `visible` before colours are added, so
it cannot send control sequences to the terminal.
"""

import os

from fairlead.interfaces.statusline.options import (
    HostMessage,
    Options,
    read_host_message,
    read_if_json,
)
from fairlead.project.derive.headline import (
    NO_WORKSTREAM,
    Headline,
    compact_text,
    full_text,
    stale_text,
)
from fairlead.project.derive.meter import (
    cells,
    level_of,
    reserved_percent,
    short_count,
    used_percent,
)
from fairlead.project.state.headline import headline_of
from fairlead.store.nearest_project import (
    NearestProject,
    nearest_project,
    newest_todo,
    transcript_tail,
)
from fairlead.text.printable import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DIVIDER = " │ "
COMPACTION_AT = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
HOST_FOLDER = "CLAUDE_CONFIG_DIR"

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _ORANGE, _ALARM = "1", "2", "31", "32", "33", "38;5;208", "5;31"
_LEVEL_STYLES = {
    "calm": (_GREEN, ""),
    "filling": (_YELLOW, ""),
    "high": (_ORANGE, ""),
    "full": (_ALARM, "💀 "),
}
_OPENING, _CLOSING = "<command-name>", "</command-name>"
_COMMAND_LIMIT = 80


def line_of(
    message: str, folder: str, environment: "Mapping[str, str]", *, is_alone: bool = True
) -> str:
    """The line for one message; `folder` is used when the message names none.

    Beside the user's own line it has neither model nor folder, which that one usually shows.
    """
    host = read_host_message(message, folder)
    home = environment.get("HOME") or os.path.expanduser("~")
    project = nearest_project(host.folder, home)
    options = Options(project.config or "")
    context = _context(host, options, environment)
    before, after = (context, "") if options.has_context_in_front else ("", context)
    name = host.folder.rstrip("/").rpartition("/")[2]
    task = _task(host, environment.get(HOST_FOLDER) or os.path.join(home, ".claude"))
    state = "" if task else _state(project, options, environment)
    details = _git(host.folder, options) + after + _last_command(host, options)
    if is_alone:
        before, details = _colored(_DIM, host.model) + before, _colored(_DIM, name) + details
    else:
        before, details = before.strip(), details.removeprefix(DIVIDER).strip()
    parts = [
        before,
        _colored(_BOLD, task) if task else _colored(_DIM, state) if state else "",
        details,
    ]
    return DIVIDER.join(part for part in parts if part)


def _colored(style: str, text: str) -> str:
    return f"\x1b[{style}m{visible(text)}\x1b[0m"


def _context(host: HostMessage, options: Options, environment: "Mapping[str, str]") -> str:
    if host.remaining is None:
        return ""
    compaction = _leading_number(environment.get(COMPACTION_AT, ""))
    used = used_percent(host.remaining, reserved_percent(compaction, host.window))
    style, warning = _LEVEL_STYLES[level_of(used)]
    has_tokens = options.shows_tokens and host.tokens > 0
    tokens = f" ({short_count(host.tokens)})" if has_tokens else ""
    return " " + _colored(style, f"{warning}{cells(used)} {used}%{tokens}")


def _task(host: HostMessage, host_folder: str) -> str:
    """The task in progress in the agent's own to-do list, if it has one."""
    content = newest_todo(host_folder, host.session) if host.session else ""
    todos = read_if_json(content) if content else None
    for todo in todos if isinstance(todos, list) else []:
        if isinstance(todo, dict) and todo.get("status") == "in_progress":
            form = todo.get("activeForm")
            return form if isinstance(form, str) else ""
    return ""


def _state(project: NearestProject, options: Options, environment: "Mapping[str, str]") -> str:
    text, name = project.state, ""
    if project.has_workstreams:
        from fairlead.store.workstream import active_workstream, load_workstream_state

        name = active_workstream(project.project, environment)
        if not name:
            return NO_WORKSTREAM
        text = load_workstream_state(project.project, name)
    if text is None:
        return ""
    headline = headline_of(text)
    if headline.active_phase:
        from fairlead.store.gone_run import is_run_gone

        if is_run_gone(project.project, headline.active_phase, name):
            headline.status = "interrupted"
    age = _age(headline, project.project, options)
    return (compact_text if options.is_compact else full_text)(headline, age)


def _age(headline: Headline, project: str, options: Options) -> str:
    if not headline.state_head or not options.shows_freshness:
        return ""
    from fairlead.interfaces.statusline.git import commits_since

    return stale_text(commits_since(project, headline.state_head))


def _git(folder: str, options: Options) -> str:
    if not options.shows_git:
        return ""
    from fairlead.interfaces.statusline.git import branch_status

    branch = branch_status(folder)
    if not branch.name:
        return ""
    counts = (
        (_GREEN, "+", branch.staged),
        (_YELLOW, "~", branch.unstaged),
        (_RED, "?", branch.untracked),
        (_GREEN, "↑", branch.ahead),
        (_RED, "↓", branch.behind),
    )
    marks = "".join(_colored(style, f"{mark}{count}") for style, mark, count in counts if count)
    return DIVIDER + _colored(_DIM, branch.name) + (marks or _colored(_GREEN, "✓"))


def _last_command(host: HostMessage, options: Options) -> str:
    if not options.shows_last_command or not host.transcript:
        return ""
    name = last_command(transcript_tail(host.transcript))
    return DIVIDER + _colored(_DIM, f"last: /{name}") if name else ""


def last_command(transcript: str) -> str:
    """The name of the last slash command in a transcript, without the slash; empty if none."""
    end = transcript.rfind(_CLOSING)
    start = transcript.rfind(_OPENING, 0, max(end, 0))
    if start < 0:
        return ""
    name = transcript[start + len(_OPENING) : end].strip().removeprefix("/")
    is_plain = name and not any(character.isspace() or character in '\\"<>' for character in name)
    return name if is_plain and len(name) <= _COMMAND_LIMIT else ""


def _leading_number(text: str) -> int:
    text = text.strip()
    end = 0
    while text[end : end + 1] and text[end] in "0123456789":
        end += 1
    return int(text[: min(end, 18)] or "0")
