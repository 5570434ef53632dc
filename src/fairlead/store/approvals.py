"""Approvals: the plans whose commands a person has agreed to run, by the digest of their text.

They are the person's own: outside the repository, readable by nobody else, so that neither a clone
nor an agent can bring or make one.
"""

from fairlead.store import layout
from fairlead.store.files import Files


def approved_plans(state: Files, project: str) -> frozenset[str]:
    """The digests that were approved for a project."""
    loaded = state.load_if_present(layout.approvals_path(project))
    return frozenset(loaded.text.split()) if loaded else frozenset()


def approve_plans(state: Files, project: str, digests: tuple[str, ...]) -> None:
    """Remember that these plans, as they stand, were approved."""

    def edit(text: str) -> str:
        known = text.split()
        return "".join(
            f"{each}\n" for each in (*known, *(new for new in digests if new not in known))
        )

    path = layout.approvals_path(project)
    state.update(path, edit, command="approve plans", may_create=True)
