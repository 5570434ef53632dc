"""Checks of settings that name agents, models and programs."""

from collections.abc import Callable

from fairlead.agents.custom_agents import CustomAgent, check_field
from fairlead.agents.registry import SCRIPTED, driver_factories, packaged_factories
from fairlead.core.errors import SettingValue
from fairlead.core.settings import setting
from fairlead.jobs.model import shares_of


def check_setting(key: str, value: object) -> None:
    """Refuse a wrong value, in a file or from the command line."""
    if key.startswith("fairlead.provider_slots"):
        shares_of(str(value))
    else:
        check_field(key, value)


def check_agent_names(
    key: str, value: object, custom: Callable[[], tuple[CustomAgent, ...]]
) -> None:
    """Refuse a new value that names an agent nobody has described."""
    known = setting(key)
    if known is None or not known.is_agent or not isinstance(value, str) or value == known.default:
        return
    factories = {**driver_factories(custom()), **packaged_factories()}
    names = [name for name in factories if name != SCRIPTED]
    for part in value.split(","):
        name = part.strip().partition(":")[0]
        if name not in names and value.strip():
            allowed = f"AGENT or AGENT:MODEL, with one of these agents: {', '.join(names)}"
            raise SettingValue(key, value, allowed)
