"""`fairlead undo`: take back what the last command wrote."""

from collections.abc import Sequence

import click

from fairlead.interfaces.cli.options import changes
from fairlead.interfaces.cli.show import Manner, Part, Styled, diff_lines, report, warn
from fairlead.wiring import App


@click.command(epilog="Example: fairlead undo --dry-run")
@changes
def undo(app: App, manner: Manner) -> None:
    """Take back the last command that wrote something: all of its documents at once.

    A second undo takes the first one back. Exit code 4 when there is nothing to take back, or
    when a document was changed since.
    """
    command, outcome = app.undo(dry_run=manner.dry_run)
    for notice in outcome.notices:
        warn(str(notice))
    moved = [{"from": move.source, "to": move.target} for move in outcome.places.moves]
    content = {
        "command": command,
        "changed": list(outcome.paths),
        "moved": moved,
        "dry_run": manner.dry_run,
    }
    lines: list[Sequence[Part]] = []
    if manner.dry_run:
        lines.append((f"Nothing was written. Taking back `{command}` would change:",))
        for change in outcome.changes:
            lines += diff_lines(change.path, change.old, change.new)
    else:
        lines.append(
            (Styled("✓ ", "green"), f"Taken back: {command}. To have it again: fairlead undo")
        )
        lines += [(Styled(f"  {path}", "dim"),) for path in outcome.paths]
    lines += [(Styled(f"  {move['from']} → {move['to']}", "dim"),) for move in moved]
    report(content, lines, as_json=manner.as_json)
