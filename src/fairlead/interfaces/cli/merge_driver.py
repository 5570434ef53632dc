"""`fairlead merge-driver`: git calls it to merge two versions of a planning document."""

import os

import click

from fairlead.app import App
from fairlead.core.ids import stream_words
from fairlead.core.serialization import plain
from fairlead.interfaces.cli.options import dry_run_option, json_option
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    discard_output,
    driver_lines,
    report,
    report_change,
    warn,
)
from fairlead.merge.service import MergeReport, Versions, merge_versions
from fairlead.project.first_documents import GIT_COMMANDS
from fairlead.store import layout
from fairlead.store.errors import OutputFault

_CONFLICTS = 1


@click.command("merge-driver", epilog="Example: fairlead merge-driver --register")
@click.argument("versions", nargs=-1, metavar="[BASE OURS THEIRS PATH]")
@click.option(
    "--register", is_flag=True, help="Add the documents to .gitattributes; print the git commands."
)
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
    """Merge two versions of a planning document for git.

    Git calls it with %O %A %B %P. Keeps keys, list items, table rows and fields of both sides.
    Values derived from the files never conflict. The result is written to OURS. Exit code 1: an
    entry was changed on both sides and is marked as a conflict, or both sides gave the same number
    to a phase.
    """
    folder = context.find_root().obj
    if register and not versions:
        return _register(folder, OutputOptions(dry_run, as_json))
    if register or dry_run or len(versions) != len(Versions.__slots__):
        raise click.UsageError("give --register, or the four arguments of git: %O %A %B %P")
    *files, path = versions
    # git passes names of temporary files relative to the top folder, where it starts the driver.
    base, ours, theirs = (os.path.join(folder, name) for name in files)
    merged = merge_versions(Versions(base, ours, theirs, path))
    try:
        _report_merge(merged, as_json=as_json)
    except OutputFault:  # the exit code must still tell git about conflicts
        discard_output()
    return _CONFLICTS if merged.conflicts else 0


def _register(folder: str, output: OutputOptions) -> int:
    outcome = App(folder).register_driver(dry_run=output.dry_run)
    report_change(
        outcome,
        output,
        done="git now merges the planning documents with fairlead.",
        unchanged="git already merges the planning documents with fairlead.",
        commands=list(GIT_COMMANDS),
    )
    if not output.as_json:
        report({}, driver_lines(), as_json=False)
    return 0


def _report_merge(merged: MergeReport, *, as_json: bool) -> None:
    lines: list[Line] = [
        (f"{merged.path}:{conflict.line}: conflict in ", Styled(conflict.about, "yellow"))
        for conflict in merged.conflicts
    ]
    content = {**plain(merged), "ok": not merged.conflicts}
    report(content, lines, as_json=as_json)
    if merged.stale:
        workstream = merged.path.partition(f"{layout.WORKSTREAMS_NAME}/")[2].partition("/")[0]
        command = f"fairlead doctor --fix{stream_words(workstream)}"
        warn(f"{merged.path}: update {', '.join(merged.stale)} with: {command}")
