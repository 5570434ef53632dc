"""Errors of git, worktrees and GitHub issues."""

from __future__ import annotations

from fairlead.core.errors import AgentError, ConflictError, UsageError


class BranchName(UsageError, code="branch-name"):
    """The settings give a branch a name that git does not accept."""

    name: object
    message = "{name!r} cannot be the name of a branch"
    hint = "look at the git.* settings: fairlead config list"


class TreeDirty(ConflictError, code="tree-dirty"):
    """The working tree contains uncommitted changes."""

    paths: tuple[str, ...]
    left_out: str = ""
    message = "there are uncommitted changes: {paths:3}"

    def _hint(self) -> str:
        pathspec = f" -- ':/!{self.left_out}'" if self.left_out else ""
        return f"commit them, or run: git stash push --include-untracked{pathspec}"


class LandingBlocked(ConflictError, code="landing-blocked"):
    """Finished work cannot be merged into the working tree."""

    place: object
    why: object
    message = "{place}: {why}"
    hint = "commit or remove your own change there, then run the command again"


class NoAnswer(AgentError, code="no-answer"):
    """A program did not answer in time, or wrote too much output."""

    what: str
    why: str
    message = "{what}: {why}, and was ended"
    hint = "run the command again: completed steps are kept, and nothing is done twice"


class OddAnswer(AgentError, code="odd-answer"):
    """The answer of a program cannot be understood."""

    what: str
    said: str
    message = "{what}: cannot understand the answer {said!r}"
    hint = "run the command again: an issue that was created anyway is found by its marker"


class ProgramRefused(AgentError, code="program-refused"):
    """A program reports that it could not do what it was asked."""

    what: str
    said: str
    message = "{what}: {said}"
    hint = "fix the cause, then run the command again; completed steps are kept"


class NotLoggedIn(AgentError, code="not-logged-in"):
    """The GitHub program gh is not logged in."""

    said: str
    message = "gh is not logged in: {said}"
    hint = "log in with: gh auth login; or approve without issues: --skip-issues"


class GitFault(AgentError, code="git-fault"):
    """Git refused, or ended unexpectedly."""

    verb: object
    said: object
    message = "git {verb}: {said}"
    hint = "look at the repository: git status"


class GitTooOld(AgentError, code="git-too-old"):
    """This version of git cannot merge without a checkout."""

    found: object
    least: object
    message = "git {found} is too old to merge without a checkout"
    hint = "install git {least} or newer"


class BadRemote(UsageError, code="bad-remote"):
    """The address of a repository has a form that is not allowed."""

    url: str
    message = "{url!r} is not an allowed address of a repository"
    hint = "set one: fairlead config set fairlead.cluster.remote ssh://HOST/PATH.git"
