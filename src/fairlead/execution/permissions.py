"""What executors may run: the verify commands, the project's test and build commands, reading git.

`fairlead.execution.commands` names the commands of a project. Without it they follow from the
files in the project's folder. `fairlead.execution.permissions: all` allows every command.
"""

from collections.abc import Mapping

from fairlead.agents.model import CommandPermissions
from fairlead.core.values import replace
from fairlead.jobs.context import JobSetup
from fairlead.plans.model import PlanDocument
from fairlead.store.reader import Reader

COMMANDS, PERMISSIONS = "fairlead.execution.commands", "fairlead.execution.permissions"
GIT_COMMANDS = tuple(
    f"git {verb}" for verb in ("status", "diff", "log", "show", "ls-files", "blame", "rev-parse")
)
_PYTHON = (
    "pytest",
    *(f"{name} -m {module}" for name in ("python", "python3") for module in ("pytest", "unittest")),
)
_NODE = ("npm test", "npm run", "node --test")
# The files of a project's root folder, and the commands that they announce.
_FOUND = {
    "pyproject.toml": _PYTHON,
    "setup.py": _PYTHON,
    "setup.cfg": _PYTHON,
    "requirements.txt": _PYTHON,
    "pytest.ini": _PYTHON,
    "tox.ini": ("tox", *_PYTHON),
    "noxfile.py": ("nox", *_PYTHON),
    "uv.lock": ("uv run pytest", "uv run python -m pytest"),
    "poetry.lock": ("poetry run pytest",),
    "package.json": _NODE,
    "pnpm-lock.yaml": ("pnpm test", "pnpm run"),
    "yarn.lock": ("yarn test", "yarn run"),
    "bun.lock": ("bun test", "bun run"),
    "bun.lockb": ("bun test", "bun run"),
    "deno.json": ("deno test", "deno check", "deno lint"),
    "tsconfig.json": ("npx tsc",),
    "Cargo.toml": ("cargo test", "cargo build", "cargo check", "cargo clippy", "cargo fmt"),
    "go.mod": ("go test", "go build", "go vet", "gofmt"),
    "Makefile": ("make",),
    "makefile": ("make",),
    "GNUmakefile": ("make",),
    "justfile": ("just",),
    "CMakeLists.txt": ("cmake", "ctest"),
    "meson.build": ("meson", "ninja"),
    "pom.xml": ("mvn test", "mvn verify", "mvn compile"),
    "mvnw": ("./mvnw test", "./mvnw verify", "./mvnw compile"),
    "build.gradle": ("gradle test", "gradle build"),
    "build.gradle.kts": ("gradle test", "gradle build"),
    "gradlew": ("./gradlew test", "./gradlew build"),
    "Gemfile": ("bundle exec rspec", "bundle exec rake"),
    "composer.json": ("composer test", "vendor/bin/phpunit"),
    "mix.exs": ("mix test", "mix compile"),
    "Package.swift": ("swift test", "swift build"),
    "global.json": ("dotnet test", "dotnet build"),
}


def found_commands(reader: Reader) -> tuple[str, ...]:
    """The test and build commands that the files of a project announce."""
    names = {name for name in _FOUND if reader.exists(name)}
    commands = (command for name in _FOUND if name in names for command in _FOUND[name])
    return tuple(dict.fromkeys(commands))


def project_permissions(reader: Reader, settings: Mapping[str, object]) -> CommandPermissions:
    """What every agent that works on the project's files may run."""
    named = settings[COMMANDS]
    given = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
    return CommandPermissions(
        programs=(*(given or found_commands(reader)), *GIT_COMMANDS),
        is_unlimited=settings[PERMISSIONS] == "all",
    )


def executor_permissions(project: CommandPermissions, plan: PlanDocument) -> CommandPermissions:
    """What the executor of a plan may run: its verify commands as well."""
    lines = dict.fromkeys(task.verify for task in plan.tasks if task.verify)
    return replace(project, lines=tuple(lines))


def permission_notes(setup: JobSetup) -> tuple[str, ...]:
    """What has to be said about permissions before a run starts."""
    if setup.options.is_rehearsed:
        return ()
    if setup.options.commands.is_unlimited:
        return (f"executors may run every command ({PERMISSIONS}: all)",)
    return setup.roster.notes
