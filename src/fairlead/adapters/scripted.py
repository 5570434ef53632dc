"""The scripted agent: a program of ours that stands in for a model, to rehearse with.

It is a process like any other agent, behind the same supervision, and gets what they get: a
prompt and a folder. Nothing tells it that it rehearses.
"""

import os
import sys

from fairlead.adapters.agent import Row
from fairlead.model.agent_streams import Stream

NAME = "scripted"


def row() -> Row:
    """How the scripted agent is used."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripted_program.py")
    return Row(
        name=NAME,
        programs=(sys.executable,),
        stream=Stream.CLAUDE,
        words=lambda _: (),
        first_words=("-I", "-S", "-B", program),
        is_free=True,
    )
