"""The page of the attack suite: `docs/reference/attacks.md`, made from the table."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.attacks.catalog import Attacker
from tests.attacks.table import ATTACKS
from tests.attacks.weaknesses import WEAKNESSES
from tests.web.attacks import BOARD_ATTACKS, BOARD_WEAKNESSES

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/attacks.md"
_INTRODUCTION = """\
# Attacks

Every agent that Fairlead starts has the rights of the person who starts it, and it reads text that
others wrote. So the suite in `tests/attacks/` lets each part of the system attack: it runs a real
execution, council, workflow, command or hook, and then looks at what landed on the branch, what
counts in `status`, whether a planted program ran, where secrets went, and what the person is told.

{count} attacks are tried, and all of them are detected or refused. `make test` tries a seeded
sample, `make prove` all of them (the row `attacks` of [Proof](proof.md)).

This page is generated from the table in `tests/attacks/`; run `make docs` after a change.
"""
_LIMITS = """\
## What the suite does not promise

- An agent that may write outside its worktree can change the person's files, such as a shell's
  start-up file or a package in the person's own Python. Use the sandbox of the agent program.
- An agent that can write the person's private state folder can forge what Fairlead recorded there.
  Approvals in it are compared before and after each call; the record of answers cannot be, because
  people answer while agents work.
- An agent that ends Fairlead and its supervisor, and clears its environment, is a process of the
  person like any other. The job is interrupted, and what the agent left is checked by the next
  run, but nothing tells its later commands from those of the person.
- An agent that may write the main tree can hide a changed file there from `git status` (flags of
  git's index). No run is misled, because verify commands see the files of a commit. `phase verify`
  works in the main tree: it finds such files and asks a person, and it names those that
  `git status` shows.
- A process that was not started by the agent's own processes, for example by a service that the
  agent asked, is not ended with the call.
- A dependency folder that the agent made is used by the verify command if the project has no
  `fairlead.execution.setup`; ledger and summary say so.
- The filter for secrets knows shapes and names; it cannot find a secret that looks like text.
"""


def page_text() -> str:
    """The text of the page."""
    parts = [_INTRODUCTION.format(count=len(ATTACKS))]
    for attacker in Attacker:
        rows = [row for row in ATTACKS.values() if row.attacker is attacker]
        lines = [f"| `{row.id}` | {_cell(row.what)} | {row.expected} |" for row in rows]
        head = "| attack | what it does | expected outcome |\n|---|---|---|"
        parts.append(f"## By {attacker} ({len(rows)})\n\n{head}\n" + "\n".join(lines) + "\n")
    weak = [
        f"| {each.what} | {', '.join(f'`{name}`' for name in each.attacks)} |"
        for each in WEAKNESSES.values()
    ]
    parts.append(
        "## Planted weaknesses\n\nThe suite can fail: with one defence switched off, the attacks "
        "that it stops succeed.\n\n| what is switched off | attacks that succeed then |\n|---|---|\n"
        + "\n".join(weak)
        + "\n"
    )
    return "\n".join([*parts, _board(), _LIMITS])


def _board() -> str:
    """The attacks on the web board, which are tried over a socket in every `make test`."""
    rows = [f"| `{row.id}` | {_cell(row.what)} |" for row in BOARD_ATTACKS.values()]
    text = (
        f"## On the web board ({len(rows)})\n\n`tests/web/` sends these over a real socket to a "
        "running board, in every `make test`. None succeeds and none stops the server.\n\n"
        "| attack | what it does |\n|---|---|\n"
    )
    weak = [
        f"| {what} | {', '.join(f'`{name}`' for name in attacks)} |"
        for what, attacks in BOARD_WEAKNESSES.items()
    ]
    head = "\n\n| what is switched off | attacks that succeed then |\n|---|---|\n"
    return text + "\n".join(rows) + head + "\n".join(weak) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is out of date."""
    text = page_text()
    if "--check" in arguments:
        if PAGE.is_file() and PAGE.read_text("utf-8") == text:
            return 0
        sys.stdout.write("docs/reference/attacks.md is out of date; run: make docs\n")
        return 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
