"""File names of the Plan Phase.

Its files are beside those of the host agent, because a plan may begin where no project exists
yet. The store allows writing these files (`store.staging`), so a new name is added there too.
"""

from __future__ import annotations

import os

from fairlead.store.layout import has_project, nearest_folder, project_key

PLAN_FILE = ".claude/orchestrator-plan-phase.local.md"
EXEC_FILE = ".claude/orchestrator-exec-phase.local.md"
PLAN_IGNORED = ".claude/orchestrator-*.local.md"  # the .gitignore entry for both and their backups
PLAN_REQUIREMENTS = "USER_REQUIREMENTS.md"  # unless the plan file names another file
GIT_IGNORE = ".gitignore"
CHECKS = "checks"  # allowed commands and their results, in the user's state folder
HOLD = "hold.json"  # in the staging folder: the session that the plan keeps from stopping


def plan_backup(path: str, stamp: str) -> str:
    """Where a plan or exec file is kept when a new plan begins. `PLAN_IGNORED` covers it."""
    return f"{path.removesuffix('.local.md')}.{stamp}.local.md"


def checks_name(folder: str) -> str:
    """The record of a project's checks, below the user's state folder."""
    return f"{CHECKS}/{project_key(folder)}.json"


def find_plan_home(start: str) -> str:
    """The nearest folder, here or above, with a plan or a project; "" if there is none."""
    return nearest_folder(start, lambda folder: _has_plan(folder) or has_project(folder))


def _has_plan(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, path)) for path in (PLAN_FILE, EXEC_FILE))
