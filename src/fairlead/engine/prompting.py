"""Prompts: a template of ours, and pieces of data framed so that they stay data.

Each piece stands between marks that nobody could foresee, every line of it behind a bar, so that
no text of a file begins a line, ends its frame or is taken for a command of the agent's program.
The answer is asked for in one block that carries the nonce of this call.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pkgutil import get_data

from fairlead.model.plan import Task
from fairlead.records.plan_tasks import task_number
from fairlead.text.visible import visible

_LONGEST_PIECE = 60_000
_PLACE = re.compile(r"\{\{([\w-]+)\}\}")
_LONGEST_WORD = 80
_LEAST_PIECE = 400  # of each piece, however little room there is


@cache
def template(name: str) -> str:
    """The text of a template."""
    found = get_data("fairlead.engine", f"prompts/{name}.md")
    assert found is not None, name
    return found.decode("utf-8")


def prompt(name: str, nonce: str, words: Mapping[str, str], pieces: Mapping[str, str]) -> str:
    """A template filled with our own words and with framed pieces of data."""
    text = template(name)
    framed = {key: framed_piece(key, each, nonce) for key, each in pieces.items()}
    return _filled(text, {**words, **framed})


def role_prompt(
    name: str, nonce: str, words: Mapping[str, str], pieces: Mapping[str, str], ending: str
) -> str:
    """The prompt of a role: its template, the rules of all, every piece in its order, the ending."""
    framed = [framed_piece(key, each, nonce) for key, each in pieces.items()]
    parts = (template(name), template("rules"), *framed, template(ending) if ending else "")
    return _filled("\n\n".join(part.strip() for part in parts if part), {**words, "nonce": nonce})


def fitted(pieces: Mapping[str, str], characters: int) -> dict[str, str]:
    """Pieces that together are not longer than this; the longest are cut first, and say so."""
    sizes = sorted(len(each) for each in pieces.values())
    left, limit = characters, characters
    for at, size in enumerate(sizes):
        share = max(left // (len(sizes) - at), _LEAST_PIECE)
        limit = share
        if size > share:
            break
        left -= size
    else:
        return dict(pieces)
    return {key: _cut(text, limit) for key, text in pieces.items()}


def word(text: str) -> str:
    """A name from a file or an agent where a template needs it in its own line: short and plain."""
    return visible(" ".join(text.split()))[:_LONGEST_WORD]


def listed(items: Sequence[str]) -> str:
    """Lines of a list, one an item."""
    return "\n".join(f"- {each}" for each in items) or "- (none)"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n({len(text) - limit} more characters are left out)"


def _filled(text: str, values: Mapping[str, str]) -> str:
    """One pass: a value that looks like a place is not filled again."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def answer_request(name: str, nonce: str, task: Task) -> str:
    """The block that the answer is asked for in: `result` or `verdict`."""
    label = task.name if task_number(task.name) else f"Task {task.number}: {task.name}"
    shown = visible(label).replace('"', "'")
    return template(name).replace("{{nonce}}", nonce).replace("{{name}}", shown)


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
