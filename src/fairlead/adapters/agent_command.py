"""Any command line that a person describes in their own settings, as an agent."""

from fairlead.adapters.agent import PROMPT_FILE, Row
from fairlead.model.agent_commands import AgentCommand


def row(command: AgentCommand) -> Row:
    """How a described command is used. `{prompt}` among its words is the prompt's file."""
    first, *rest = command.argv
    words = tuple(rest)
    if command.prompt == "file" and PROMPT_FILE not in words:
        words = (*words, PROMPT_FILE)
    return Row(
        name=command.name,
        programs=(first,),
        stream=command.stream,
        words=lambda _: words,
        keys=command.environment,
        family=command.family,
    )
