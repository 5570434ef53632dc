"""All attacks, in the order of the page."""

from tests.attacks import (
    by_environment,
    by_executor,
    by_executor_files,
    by_executor_store,
    by_plan,
    by_repository,
    by_reviewer,
    by_role,
    by_seat,
)
from tests.attacks.catalog import ATTACKS

__all__ = [
    "ATTACKS",
    "by_environment",
    "by_executor",
    "by_executor_files",
    "by_executor_store",
    "by_plan",
    "by_repository",
    "by_reviewer",
    "by_role",
    "by_seat",
]
