"""Prompts: templates, and pieces of data framed so that agents cannot take them for instructions.

Each piece is between marks with an unpredictable nonce, and a bar precedes each of its lines, so
that no text of a file can begin a line or end its frame. The answer is requested in one block that
contains the nonce of this call.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pkgutil import get_data

from fairlead.core.patterns import lazy_pattern
from fairlead.plans.model import Task
from fairlead.plans.tasks import task_number
from fairlead.text.printable import visible

_LONGEST_PIECE = 60_000  # characters
_PLACEHOLDER = lazy_pattern(r"\{\{([\w-]+)\}\}")
_LONGEST_WORD = 80
_LEAST_PIECE = 400  # characters of each piece, even if the limit is exceeded


@cache
def template(name: str) -> str:
    """The text of a template."""
    content = get_data("fairlead.jobs", f"prompt_templates/{name}.md")
    assert content is not None, name
    return content.decode("utf-8")


def prompt(name: str, nonce: str, words: Mapping[str, str], pieces: Mapping[str, str]) -> str:
    """A template filled with trusted words and with framed pieces of data."""
    text = template(name)
    framed = {key: framed_piece(key, each, nonce) for key, each in pieces.items()}
    return _filled(text, {**words, **framed})


def role_prompt(
    name: str, nonce: str, words: Mapping[str, str], pieces: Mapping[str, str], ending: str
) -> str:
    """The prompt of a role: its template, the common rules, the framed pieces, the ending."""
    framed = [framed_piece(key, each, nonce) for key, each in pieces.items()]
    parts = (template(name), template("rules"), *framed, template(ending) if ending else "")
    return _filled("\n\n".join(part.strip() for part in parts if part), {**words, "nonce": nonce})


def fitted(pieces: Mapping[str, str], characters: int) -> dict[str, str]:
    """The pieces, cut to a total length; the longest are cut first, with a remark."""
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
    """A name from a file or an agent, made short and plain enough to stand outside a frame."""
    return visible(" ".join(text.split()))[:_LONGEST_WORD]


def listed(items: Sequence[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {each}" for each in items) or "- (none)"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n({len(text) - limit} more characters are left out)"


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill a template in one pass: a value that looks like a placeholder is not filled again."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def answer_request(name: str, nonce: str, task: Task) -> str:
    """The request for an answer block: `result` or `verdict`."""
    label = task.name if task_number(task.name) else f"Task {task.number}: {task.name}"
    shown = visible(label).replace('"', "'")
    return template(name).replace("{{nonce}}", nonce).replace("{{name}}", shown)


def framed_piece(name: str, text: str, nonce: str) -> str:
    """A piece of data between marks, cut with a remark if it is too long."""
    cut = text[:_LONGEST_PIECE]
    lines = [f"| {visible(line)}" for line in cut.splitlines()] or ["| (nothing)"]
    if len(text) > len(cut):
        lines.append(f"| ({len(text) - len(cut)} more characters are left out)")
    return "\n".join((f"[[{name} {nonce[:8]}", *lines, f"{name} {nonce[:8]}]]"))


def retry_context(failures: tuple[str, ...], note: str, guidance: str, nonce: str) -> str:
    """A description of earlier attempts, to precede the task; empty on the first attempt."""
    if not failures and not guidance:
        return ""
    lines = [f"This is attempt {len(failures) + 1}. Earlier attempts did not pass:", *failures]
    if note:
        lines += ["", "Why the last attempt did not pass:", *note.splitlines()]
    text = framed_piece("earlier", "\n".join(lines), nonce)
    if guidance:
        text += "\nA person gives these binding instructions:\n"
        text += framed_piece("guidance", guidance, nonce)
    return f"\n{text}\n"
