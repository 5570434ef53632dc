"""`fairlead merge-driver`: what git calls to merge two versions of a planning document."""

import os
from collections.abc import Sequence

import click

from fairlead.engine.merging import MergeReport, Versions, merge_versions
from fairlead.errors import OutputFault
from fairlead.interfaces.cli.options import dry_run_option, json_option
from fairlead.interfaces.cli.show import (
    Manner,
    Part,
    Styled,
    driver_lines,
    give_up_output,
    report,
    report_change,
    warn,
)
from fairlead.model.ids import stream_words
from fairlead.model.plain import plain
from fairlead.records.attributes import GIT_COMMANDS
from fairlead.store import layout
from fairlead.wiring import App

_CONFLICTS = 1


@click.command("merge-driver", epilog="Example: fairlead merge-driver --register")
@click.argument("versions", nargs=-1, metavar="[BASE OURS THEIRS PATH]")
@click.option("--register", is_flag=True, help="Name our documents to git; print what git needs.")
@dry_run_option
@json_option
@click.pass_context
def merge_driver(
    context: click.Context,
    *,
    versions: tuple[str, ...],
    register: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Merge two versions of a planning document. git calls this, with its %O %A %B %P.

    Keys, list items, table rows and fields of both sides are kept; values that follow from the
    files never conflict. The merge is written to OURS. Exit code 1: an entry was changed on
    both sides, and stands there between conflict markers, or both gave one number to a phase.
    """
    folder = context.find_root().obj
    if register and not versions:
        return _register(folder, dry_run=dry_run, as_json=as_json)
    if register or dry_run or len(versions) != len(Versions.__slots__):
        raise click.UsageError("give --register, or the four names that git gives: %O %A %B %P")
    *files, path = versions
    base, ours, theirs = (os.path.join(folder, name) for name in files)
    merged = merge_versions(Versions(base, ours, theirs, path))
    try:
        _show(merged, as_json=as_json)
    except OutputFault:  # nobody listens, and still git must learn of a conflict
        give_up_output()
    return _CONFLICTS if merged.conflicts else 0


def _register(folder: str, *, dry_run: bool, as_json: bool) -> int:
    outcome = App(folder).register_driver(dry_run=dry_run)
    report_change(
        outcome,
        Manner(dry_run, as_json),
        done="git knows which documents to merge with fairlead.",
        unchanged="git knows already which documents to merge with fairlead.",
        commands=list(GIT_COMMANDS),
    )
    if not as_json:
        report({}, driver_lines(), as_json=False)
    return 0


def _show(merged: MergeReport, *, as_json: bool) -> None:
    lines: list[Sequence[Part]] = [
        (f"{merged.path}:{conflict.line}: ", Styled(conflict.about, "yellow"), " conflicts")
        for conflict in merged.conflicts
    ]
    content = {**plain(merged), "ok": not merged.conflicts}
    report(content, lines, as_json=as_json)
    if merged.stale:
        stream = merged.path.partition(f"{layout.WORKSTREAMS_NAME}/")[2].partition("/")[0]
        way = f"fairlead doctor --fix{stream_words(stream)}"
        warn(f"{merged.path}: bring {', '.join(merged.stale)} up to date with: {way}")
