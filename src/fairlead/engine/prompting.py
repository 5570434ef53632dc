"""Prompts: a template of ours, and pieces of data framed so that they stay data.

Each piece stands between marks that nobody could foresee, every line of it behind a bar, so that
no text of a file begins a line, ends its frame or is taken for a command of the agent's program.
The answer is asked for in one block that carries the nonce of this call.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources

from fairlead.model.plan import Task
from fairlead.records.plan_tasks import task_number
from fairlead.text.visible import visible

_LONGEST_PIECE = 60_000


@cache
def _template(name: str) -> str:
    return (resources.files("fairlead.engine") / "prompts" / f"{name}.md").read_text("utf-8")


def prompt(name: str, nonce: str, words: Mapping[str, str], pieces: Mapping[str, str]) -> str:
    """A template filled with our own words and with framed pieces of data."""
    text = _template(name)
    framed = {key: framed_piece(key, each, nonce) for key, each in pieces.items()}
    for key, value in {**words, **framed}.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def answer_request(name: str, nonce: str, task: Task) -> str:
    """The block that the answer is asked for in: `result` or `verdict`."""
    label = task.name if task_number(task.name) else f"Task {task.number}: {task.name}"
    shown = visible(label).replace('"', "'")
    return _template(name).replace("{{nonce}}", nonce).replace("{{name}}", shown)


def framed_piece(name: str, text: str, nonce: str) -> str:
    """A piece of data between marks; what is too long is cut, and that is said."""
    cut = text[:_LONGEST_PIECE]
    lines = [f"| {visible(line)}" for line in cut.splitlines()] or ["| (nothing)"]
    if len(text) > len(cut):
        lines.append(f"| ({len(text) - len(cut)} more characters are left out)")
    return "\n".join((f"[[{name} {nonce[:8]}", *lines, f"{name} {nonce[:8]}]]"))


def retry_context(failures: tuple[str, ...], note: str, guidance: str, nonce: str) -> str:
    """What went wrong before, placed ahead of the task; nothing on a first attempt."""
    if not failures and not guidance:
        return ""
    told = [f"This is attempt {len(failures) + 1}. Earlier attempts did not pass:", *failures]
    if note:
        told += ["", "What was said about the last one:", *note.splitlines()]
    said = framed_piece("earlier", "\n".join(told), nonce)
    more = (
        f"\nA person adds, and this is binding:\n{framed_piece('guidance', guidance, nonce)}"
        if guidance
        else ""
    )
    return f"\n{said}{more}\n"
