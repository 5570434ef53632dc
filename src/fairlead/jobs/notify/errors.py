"""Errors of notifications."""

from __future__ import annotations

from fairlead.core.errors import AgentError, StorageError, UsageError


class NotifyOff(UsageError, code="notify-off"):
    """No channel is switched on."""

    path: object
    message = "notifications are off: {path} switches on no channel"
    hint = "see: fairlead notify status"


class NotifyFileOpen(StorageError, code="notify-file-open"):
    """Other users can read or change the file with the webhook's secret."""

    path: object
    message = "{path} must be your own file and readable only by you"
    hint = "make it private: chmod 600 {path}"


class NotifyFileRefused(UsageError, code="notify-file-refused"):
    """The file with the notification settings contains faults."""

    path: object
    problems: tuple[str, ...]
    message = "{path}: {problems:; }"
    hint = "correct the file, then: fairlead notify status"


class NotSent(AgentError, code="not-sent"):
    """A notification could not be delivered."""

    channels: tuple[str, ...]
    message = "not sent: {channels:; }"
    hint = "see: fairlead notify status"
