"""What a file of a project is by its name: a test, an entry, an example, empty on purpose."""

import re

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e|cypress|testdata)/|(?:^|/)(?:test_[^/]*|conftest)\.py$"
    r"|_test\.(?:py|go|rb|exs?)$|\.(?:test|spec|cy|e2e)\.\w+$|(?:Tests?|IT)\.(?:java|kt|cs)$|_spec\.rb$|\.bats$"
)
_TEST_FILE = re.compile(
    r"(?:^|/)test_[^/]*\.py$|_test\.(?:py|go|rb)$|\.(?:test|spec|cy)\.[cm]?[jt]sx?$|(?:Tests?|IT)\.(?:java|kt)$"
    r"|_spec\.rb$|(?:^|/)test_[^/]*\.rb$|\.bats$"
)
_STAND_IN = re.compile(
    r"(?:^|/)(?:__mocks__|mocks?|fixtures?|fakes?|stubs?|stories|storybook|samples?|examples?|templates?"
    r"|demos?)/|\.stories\.\w+$|(?:^|[./_-])(?:example|sample|template|dist|mock)(?:[./_-]|$)",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    ".gitkeep .keep .gitignore .npmignore .nojekyll .dockerignore py.typed __init__.py conftest.py "
    ".prettierignore .eslintignore __init__.pyi".split()
)
_ENTRY = re.compile(
    r"(?:^|/)(?:main|index|cli|app|server|manage|wsgi|asgi|__main__|__init__|setup|conftest|mod|lib|build|"
    r"tasks|fabfile|noxfile|gulpfile|gruntfile|rakefile|urls|admin|apps|models|settings|worker|sw|"
    r"page|layout|route|loading|error|not-found|middleware|template|_app|_document)\.\w+$"
    r"|\.config\.\w+$|(?:^|/)(?:bin|scripts?|tools|migrations?|versions|cmd|public|static|"
    r"commands|benches|examples|plugins|functions|lambdas|db|seeds?)/|(?:^|/)(?:pages|app|api)/.*\.[jt]sx?$|\.d\.ts$|\.stories\.\w+$|rc\.[cm]?js$",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(?:^|[./_-])(?:min|lock|generated|gen|pb|bundle)\.\w+$|_pb2(?:_grpc)?\.py$"
)
NOT_OURS = frozenset(
    "node_modules .git .hg .venv venv env dist build target __pycache__ vendor .next .nuxt coverage "
    ".tox .mypy_cache .pytest_cache .ruff_cache site-packages .planning .ultraplan bower_components".split()
)


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests."""
    return bool(_TEST.search(path))


def is_test_file(path: str) -> bool:
    """Whether a runner would look for tests in it."""
    return bool(_TEST_FILE.search(path))


def is_stand_in(path: str) -> bool:
    """Whether a file is an example, a fixture or a template: it may hold what others may not."""
    return bool(_STAND_IN.search(path))


def may_be_empty(path: str) -> bool:
    """Whether a file of this name is empty on purpose."""
    name = path.rpartition("/")[2]
    return name in _EMPTY or name.endswith((".keep", ".gitkeep", ".lock"))


def is_entry(path: str) -> bool:
    """Whether a file is begun from outside, by its name or its folder: nobody need import it."""
    return bool(_ENTRY.search(path))


def is_generated(path: str) -> bool:
    """Whether a program made the file."""
    return bool(_GENERATED.search(path))
