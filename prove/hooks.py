"""Ten thousand damaged plan files and hook messages, given to the real stop hook."""

from prove.numbered import NumberedProof
from tests.support.hook_trials import try_hook

HOOKS = (
    NumberedProof(
        name="hooks",
        claim="whatever a plan file or a host's message holds, the stop hook ends with exit code 0, "
        "without a traceback, answers what hosts take, and changes nothing of a person's",
        unit="plans and messages",
        count=10_000,
        try_number=try_hook,
        covers=(
            "src/fairlead/interfaces/hooks",
            "src/fairlead/planphase/criteria.py",
            "src/fairlead/planphase/stop_rule.py",
            "src/fairlead/planphase/documents.py",
            "src/fairlead/planphase/facts.py",
            "src/fairlead/planphase/hold.py",
            "src/fairlead/text",
        ),
    ),
)
