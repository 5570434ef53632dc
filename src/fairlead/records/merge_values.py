"""Frontmatter values that hold several things: lists and maps, merged item by item."""

from fairlead.records.merge_front import Flow, flow_of, scalar_name, undashed, value_of
from fairlead.records.merge_lines import Hunk, Lines
from fairlead.records.merge_parts import Kind, Part, part
from fairlead.records.merge_threads import Thread, threads_of

_EMPTY = ("", "[]", "null", "~")


def joined_list(base: Part | None, ours: Part, theirs: Part) -> Lines | None:
    """A list of scalars with what either side added, and without what either removed.

    None when one of them is no such list. Brackets stay brackets, unless one side has begun
    to write one item a line.
    """
    old, mine, other = (_scalars(side) for side in (base, ours, theirs))
    if old is None or mine is None or other is None or not (mine or other):
        return None
    sides = [[_entry(text) for text in side] for side in (old, mine, other)]
    threads = threads_of(sides[0], sides[1], sides[2])
    kept = _kept(threads)
    if kept is None:
        return None
    block = next((side for side in (ours, theirs) if side.parts), None)
    if block is None:
        flow = flow_of(ours) or flow_of(theirs)
        return None if flow is None else (_flow_line(flow, kept),)
    first = block.parts[0].head[0]
    indent = first[: first.index("-")]
    if not kept:
        return (f"{block.head[0].rstrip()} []",)
    return (*block.head, *(f"{indent}- {text}" for text in kept))


def joined_map(base: Part | None, ours: Part, theirs: Part) -> Lines | None:
    """A map in braces, key by key; None when it is none, or both sides changed one key."""
    flows = [flow_of(side, "{}") if side else Flow("", (), "") for side in (base, ours, theirs)]
    pairs = [[_pair(text) for text in flow.items] for flow in flows if flow]
    if len(pairs) < len(flows):
        return None
    threads = threads_of(pairs[0], pairs[1], pairs[2])
    kept = _kept(threads)
    if kept is None:
        return None
    assert flows[1] is not None
    return (_flow_line(flows[1], kept),)


def _kept(threads: list[Thread]) -> list[str] | None:
    """The items that stay; None when both sides changed one of them."""
    kept: list[str] = []
    for thread in threads:
        base, ours, theirs = (
            side.head if side else () for side in (thread.base, thread.ours, thread.theirs)
        )
        merged = Hunk(base, ours, theirs).merged
        if merged is None:
            return None
        kept += merged
    return kept


def _scalars(key: Part | None) -> list[str] | None:
    if key is None:
        return []
    flow = flow_of(key)
    if flow is not None:
        return list(flow.items)
    if key.parts:
        is_plain = all(
            entry.kind is Kind.ENTRY and len(entry.lines) == 1 and not undashed(entry)
            for entry in key.parts
        )
        return [entry.head[0].strip()[1:].strip() for entry in key.parts] if is_plain else None
    return [] if len(key.lines) == 1 and value_of(key) in _EMPTY else None


def _flow_line(flow: Flow, items: list[str]) -> str:
    return flow.before + ", ".join(items) + flow.after


def _entry(text: str) -> Part:
    return part(Kind.ENTRY, scalar_name(text), (text,))


def _pair(text: str) -> Part:
    return part(Kind.KEY, scalar_name(text.partition(":")[0]), (text,))
