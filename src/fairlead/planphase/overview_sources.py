"""What the overview of a project shows of its Plan Phase.

A project without a Plan Phase does not load the modules that read one.
"""

from fairlead.planphase.paths import EXEC_FILE, PLAN_FILE
from fairlead.store.reader import Reader


def plan_phase_source(reader: Reader) -> str:
    """The Plan Phase as one line; empty: there is none."""
    loaded = reader.load_for_display(PLAN_FILE)
    if loaded is None:
        return ""
    from fairlead.planphase.report import plan_phase_line

    return plan_phase_line(loaded.text)


def exec_phase_source(reader: Reader) -> str:
    """The modules of an approved plan as one line; empty: there are none."""
    loaded = reader.load_for_display(EXEC_FILE)
    if loaded is None:
        return ""
    from fairlead.planphase.report import exec_phase_line

    return exec_phase_line(loaded.text)
