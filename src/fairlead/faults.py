"""The root of the errors, its families, and what the status line and the hooks can meet.

They start with every key stroke and every turn of a host, so they load these few alone;
`errors` has the whole tree, these among them, and everybody else imports from there.
"""


class FairleadError(Exception):
    """Anything this program refuses or cannot do, with what to do next."""

    code = "fairlead"
    exit_code = 1

    def __init_subclass__(cls, *, code: str) -> None:
        cls.code = code

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class UsageError(FairleadError, code="usage"):
    """What was asked cannot be asked like this."""

    exit_code = 2


class NoProject(UsageError, code="no-project"):
    """No `.planning` folder was found here or above."""

    def __init__(self, start: object) -> None:
        hint = 'make one with: fairlead init "Title" --yes'
        super().__init__(f"no .planning folder in {start} or any folder above it", hint=hint)


class PathOutside(UsageError, code="path-outside"):
    """A path that would leave the project, or that no portable file may have."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"path {str(path)!r} {why}", hint="name a file inside the project")


class DocumentError(FairleadError, code="document"):
    """A file that cannot be read, or not be rewritten exactly. Lines and columns count from 1."""

    exit_code = 3

    def __init__(
        self, what: str, *, line: int = 0, column: int = 0, path: str = "", hint: str = ""
    ) -> None:
        super().__init__(what, hint=hint)
        self.what = what
        self.line = line
        self.column = column
        self.path = path

    def located(self, path: object) -> "DocumentError":
        """The same error, naming the file. The text floor does not know paths, the store does."""
        if not self.path:
            self.path = str(path)
        return self

    def __str__(self) -> str:
        place = self.path
        if self.line:
            place += f":{self.line}:{self.column or 1}"
        return f"{place}: {self.what}" if place else self.what


class Located:
    """A context that names the file in every `DocumentError` which is raised inside."""

    def __init__(self, path: object) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing happens before something is wrong."""

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, DocumentError):
            error.located(self.path)


class TooLarge(DocumentError, code="too-large"):
    """A file above the size limit of its kind."""

    def __init__(self, size: int, limit: int) -> None:
        hint = "move old entries to another file; nothing was changed"
        super().__init__(f"is {size:,} bytes, the limit is {limit:,}", line=1, column=1, hint=hint)


class NotAFile(DocumentError, code="not-a-file"):
    """A link, folder, pipe or device where a regular file must be."""

    wanted = "a regular file"

    def __init__(self, path: object, kind: str) -> None:
        hint = f"links and special files are never followed; put {self.wanted} in its place"
        super().__init__(f"is {kind}, not {self.wanted}", path=str(path), hint=hint)


class NotAFolder(NotAFile, code="not-a-folder"):
    """A link or a file where a folder must be."""

    wanted = "a folder"


class UnclosedFrontmatter(DocumentError, code="unclosed-frontmatter"):
    """A frontmatter block that starts and never ends."""

    def __init__(self, *, line: int) -> None:
        super().__init__(
            "frontmatter starts here and is never closed",
            line=line,
            column=1,
            hint="close it with a line that is exactly ---",
        )


class FrontmatterSyntax(DocumentError, code="frontmatter-syntax"):
    """Frontmatter that is not in the subset of YAML that can be rewritten exactly."""

    def __init__(self, why: str, *, line: int, column: int) -> None:
        hint = "correct this line in an editor; nothing was changed"
        super().__init__(f"frontmatter: {why}", line=line, column=column, hint=hint)


class JsonSyntax(DocumentError, code="json-syntax"):
    """JSON that cannot be read exactly."""

    def __init__(self, why: str, *, line: int, column: int) -> None:
        super().__init__(why, line=line, column=column, hint="correct this line in an editor")


class PlanField(DocumentError, code="plan-field"):
    """A field of a plan file whose value is of the wrong kind, or missing."""

    def __init__(self, field: str, why: str, *, line: int, wanted: str = "") -> None:
        hint = (f"it takes {wanted}; " if wanted else "") + "nothing was changed"
        super().__init__(f"{field} {why}", line=line, column=1, hint=hint)
        self.field = field


class ConflictError(FairleadError, code="conflict"):
    """It exists, is in use, or changed meanwhile."""

    exit_code = 4


class AgentError(FairleadError, code="agent"):
    """An agent, a model or an outside program."""

    exit_code = 5


class BlockedError(FairleadError, code="blocked"):
    """Waits for a person, or for criteria that are not met."""

    exit_code = 6


class StorageError(FairleadError, code="storage"):
    """The disk is full, read-only or broken."""

    exit_code = 7


class DiskFull(StorageError, code="disk-full"):
    """No space or quota left."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}", hint="free some space; nothing was changed")


class ReadOnly(StorageError, code="read-only"):
    """No permission to write here."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}", hint="check the permissions; nothing was changed")


class DiskFault(StorageError, code="disk-fault"):
    """Any other error of the file system before the new version was in place."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}", hint="nothing was changed")
