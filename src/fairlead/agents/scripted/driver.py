"""The driver of the scripted agent, which replaces a model in rehearsals.

It is a process like any other agent, under the same supervision, and gets the same input: a
prompt and a folder. Nothing tells it that this is a rehearsal.
"""

import os
import sys

from fairlead.agents.drivers.driver import Driver
from fairlead.agents.model import Stream

NAME = "scripted"


def driver() -> Driver:
    """How the scripted agent is used."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")
    return Driver(
        name=NAME,
        programs=(sys.executable,),
        stream=Stream.CLAUDE,
        arguments=lambda _: (),
        program_arguments=("-I", "-S", "-B", program),
        is_free=True,
    )
