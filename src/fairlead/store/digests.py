"""Digests of files that must not change while somebody else works."""

import hashlib
from collections.abc import Iterable

from fairlead.store.confine import fault


def digests_of(paths: Iterable[str]) -> dict[str, str]:
    """The digest of each file that is there, by its path."""
    found = {}
    for path in paths:
        try:
            with open(path, "rb") as file:
                found[path] = hashlib.sha256(file.read()).hexdigest()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise fault(path, error) from error
    return found
