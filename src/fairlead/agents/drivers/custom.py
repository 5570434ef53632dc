"""Any command line that a person describes in their own settings."""

from fairlead.agents.custom_agents import AgentCommand
from fairlead.agents.drivers.driver import PROMPT_FILE, Driver


def driver(command: AgentCommand) -> Driver:
    """How a described command is used; `{prompt}` among its words is the prompt's file."""
    program, *rest = command.argv
    words = tuple(rest)
    if command.prompt == "file" and PROMPT_FILE not in words:
        words = (*words, PROMPT_FILE)
    return Driver(
        name=command.name,
        programs=(program,),
        stream=command.stream,
        arguments=lambda _: words,
        passed_variables=command.environment,
        family=command.family,
        commands_note=f"{command.name} may run what its own command line allows",
    )
