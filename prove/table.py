"""Every proof, one row each, cheap ones first."""

from prove.agents import AGENTS
from prove.approvals import APPROVALS
from prove.attacks import ATTACK_PROOFS
from prove.boards import BOARDS
from prove.cluster import CLUSTER
from prove.council_jobs import COUNCIL_JOBS
from prove.councils import COUNCILS
from prove.crowds import CROWDS
from prove.documents import DOCUMENTS
from prove.executions import EXECUTIONS
from prove.frame import Proof
from prove.hooks import HOOKS
from prove.known_trees import KNOWN_TREES
from prove.mutations import MUTATIONS
from prove.screens import SCREENS
from prove.sweeps import SWEEPS
from prove.walks import WALKS


def proofs() -> tuple[Proof, ...]:
    """All proofs. A new proof is a new row."""
    return (
        *CROWDS,
        *SCREENS,
        *BOARDS,
        *HOOKS,
        *WALKS,
        *KNOWN_TREES,
        *ATTACK_PROOFS,
        *APPROVALS,
        *COUNCILS,
        *AGENTS,
        *EXECUTIONS,
        *COUNCIL_JOBS,
        *CLUSTER,
        *SWEEPS,
        *MUTATIONS,
        *DOCUMENTS,
    )
