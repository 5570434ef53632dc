"""The fixed time of the tests."""

from datetime import UTC, datetime

NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
