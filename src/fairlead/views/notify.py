"""Notifications: what is switched on, and what became of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.jobs.notify.service import NotifyStatus


def notify_status_view(app: App) -> NotifyStatus:
    """What is switched on, without secrets."""
    return app.notifier.status()


def notify_preview_view(app: App) -> dict[str, Any]:
    """The message that a test would send."""
    message = app.notifier.test_message()
    return {"title": message.title, "text": message.text, "message": message, "dry_run": True}


def notify_test_view(app: App) -> dict[str, Any]:
    """What became of a test in each channel."""
    return {"deliveries": list(app.notifier.test()), "dry_run": False}
