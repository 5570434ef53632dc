"""Ten thousand damaged plan files and hook messages, each met by the real stop hook."""

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
            "src/fairlead/model/criteria.py",
            "src/fairlead/model/stopping.py",
            "src/fairlead/records/plan_read.py",
            "src/fairlead/store/facts.py",
            "src/fairlead/store/hold.py",
            "src/fairlead/text",
        ),
    ),
)
