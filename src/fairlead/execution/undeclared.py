"""Undeclared files: what happens to files that an agent changed and its plan does not declare.

Everything here is pure. A file that the executor names, that no other plan declares and that the
reviewer approves may land. Any other file is left out and stays on the attempt's branch. A person
decides about files that control agents, git, CI or dependencies. What tools leave behind is
neither landed nor mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.plans.check import declared_files
from fairlead.plans.model import PlanDocument
from fairlead.plans.waves import FileClaims, normal_path
from fairlead.store import layout
from fairlead.text.inline import file_name
from fairlead.vcs.model import FileChange, compared_path, is_dropping

_SENSITIVE = lazy_pattern(
    r"""^[^/]*hooks?/ | (?:^|/)(?:
        \.git[^/]*(?:/|$)                                      # settings of git and of its hosts
      | \.(?:claude|codex|gemini|opencode|cursor|agents?|antigravity)(?:/|$)     # agents
      | (?:claude|agents|gemini)\.md$ | \.mcp\.json$
      | \.husky/ | \.pre-commit-config\.yaml$   # hooks
      | \.(?:circleci|buildkite|woodpecker|forgejo|gitea|azure-pipelines|devcontainer|vscode)/
      | \.(?:travis|drone|appveyor|woodpecker|cirrus)\.ya?ml$
      | (?:azure|bitbucket)-pipelines\.ya?ml$ | appveyor\.ya?ml$ | jenkinsfile[^/]*$
      | package(?:-lock)?\.json$ | npm-shrinkwrap\.json$ | pnpm-[^/]*\.yaml$ | yarn\.lock$
      | bun\.lockb?$ | \.npmrc$ | \.yarnrc[^/]*$ | \.pnpmfile[^/]*$ | deno\.(?:jsonc?|lock)$
      | pyproject\.toml$ | setup\.(?:py|cfg)$ | [^/]*requirements[^/]*\.(?:txt|in)$
      | pipfile[^/]*$ | poetry\.lock$ | uv\.(?:lock|toml)$ | pip\.conf$
      | sitecustomize\.py$ | usercustomize\.py$ | [^/]*\.pth$
      | cargo\.(?:toml|lock)$ | \.cargo/ | rust-toolchain[^/]*$
      | go\.(?:mod|sum|work|work\.sum)$ | gemfile[^/]*$ | [^/]*\.gemspec$
      | composer\.(?:json|lock)$ | pom\.xml$ | [^/]*\.gradle(?:\.kts)?$
      | mix\.(?:exs|lock)$ | package\.(?:swift|resolved)$ | [^/]*\.(?:cs|fs|vb)proj$ | nuget\.config$
      | \.envrc$ | \.tool-versions$
    )""",
    re.VERBOSE,
)
_WORD_BREAK = lazy_pattern(r"[\s;|&()<>'\"`=$]+")
ASKED_WORD, NEVER = "ask", "never"  # values of `fairlead.execution.undeclared`


@dataclass(frozen=True, slots=True)
class ExtraFiles:
    """The undeclared files of an attempt, by what happens to them."""

    reviewed: tuple[str, ...] = ()  # land if the reviewer approves
    in_verify: tuple[str, ...] = ()  # those of them that a verify command names
    asked: tuple[str, ...] = ()  # land if a person accepts them
    left_out: tuple[str, ...] = ()
    droppings: tuple[str, ...] = ()  # left out without a word
    links: tuple[str, ...] = ()  # lead out of the project: left out, even if the plan declares them

    @property
    def unlanded(self) -> frozenset[str]:
        """The files that are not part of the work, at least for now."""
        return frozenset((*self.asked, *self.left_out, *self.droppings, *self.links))

    @property
    def remarks(self) -> tuple[str, ...]:
        """One line about each kind, for the summary, the ledger and the reviewer."""
        texts = (
            (self.reviewed, "not declared by the plan; it lands because the executor named it"),
            (self.in_verify, "the verify command uses this undeclared file"),
            (self.asked, "not declared by the plan: a person decides"),
            (self.left_out, "not declared by the plan, and left out"),
            (self.links, "a link that leads out of the project, and left out"),
        )
        return tuple(
            f"{', '.join(map(file_name, paths))}: {text}" for paths, text in texts if paths
        )


def extra_files(
    changes: Iterable[FileChange],
    document: PlanDocument,
    plans: Iterable[PlanDocument],
    named: Collection[str],
    policy: str,
    outward: Collection[str] = (),
) -> ExtraFiles:
    """What happens to the changed files that a plan does not declare.

    `named` are the files that the executor named in its result, `outward` the symbolic links that
    lead out of the project. A sensitive file counts as declared only if the plan names it, or a
    sensitive folder above it. The reviewer is told about a file that the verify command names,
    because such a file decides whether the work passes.
    """
    own = (*declared_files(document), *document.deleted)
    claims, sensitive = FileClaims(), FileClaims()
    claims.add(own, document.id)
    sensitive.add([path for path in own if is_sensitive(path)], document.id)
    names = {normal_path(path) for path in named}
    beyond = [path for path in names if not claims.clash([path])]
    others = _claims_of_others(document, plans) if beyond else FileClaims()
    words = {word for task in document.tasks for word in _WORD_BREAK.split(task.verify)}
    in_verify = set(map(normal_path, words))
    found: dict[str, list[str]] = {}
    for change in changes:
        path = change.path
        declared = sensitive if is_sensitive(path) else claims
        if _is_planning(path):
            kind = "left_out"
        elif path in outward and not is_dropping(path):
            kind = "links"
        elif declared.clash([path]):
            continue
        elif is_dropping(path):
            kind = "droppings"
        elif policy == NEVER:
            kind = "left_out"
        elif policy == ASKED_WORD or is_sensitive(path):
            kind = "asked"
        elif path in names and not others.clash([path]):
            kind = "reviewed"
            if path in in_verify:
                found.setdefault("in_verify", []).append(path)
        else:
            kind = "left_out"
        found.setdefault(kind, []).append(path)
    return ExtraFiles(**{kind: tuple(paths) for kind, paths in found.items()})


def _claims_of_others(document: PlanDocument, plans: Iterable[PlanDocument]) -> FileClaims:
    """The files that other plans declare."""
    others = FileClaims()
    for plan in plans:
        if plan.id != document.id:
            others.add(declared_files(plan), plan.id)
    return others


def is_sensitive(path: str) -> bool:
    """Whether a file controls agents, git, hooks, CI, builds or dependencies."""
    return bool(_SENSITIVE.search(compared_path(path)))


def _is_planning(path: str) -> bool:
    """Whether some file system takes a path for one of the planning folder."""
    return compared_path(path).split("/")[0] == layout.PLANNING
