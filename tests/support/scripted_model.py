"""A model for real agent programs that answers with the script of the scripted agent.

Files that the script would write become tool calls, or documents in the answer: the script decides
the content, and the agent program does the work.
"""

import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.model_server import Call, Request, Turn
from tests.support.programs import ROOT
from tests.support.real_agents import has_answer

_PROGRAM = ROOT / "src" / "fairlead" / "agents" / "scripted" / "program.py"
_OUTPUT = "fairlead-output"
_NONCE = re.compile(r'"nonce": "([^"]+)"')
_PLACE = re.compile(r"/[^\s\"'`<>]*/(?:worktrees|scratch)/[\w.-]+")


def by_script(request: Request) -> Turn:
    """The next turn of a conversation, from the script."""
    prompts = [text for text in request.texts if _NONCE.search(text)]
    if not prompts:
        return Turn("ready")
    prompt = max(prompts, key=len)
    match = _PLACE.search(request.conversation)
    place = Path(match[0]) if match and Path(match[0]).is_dir() else None
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch) / "copy"
        if place is None:
            here.mkdir()
        else:
            shutil.copytree(place, here, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        before = _contents(here)
        answer = _answered(prompt, here)
        made = {path: text for path, text in _contents(here).items() if before.get(path) != text}
    documents = {path: text for path, text in made.items() if path.startswith(f"{_OUTPUT}/")}
    files = {path: text for path, text in made.items() if path not in documents}
    if files and place is not None and not has_answer(request):
        return Turn(calls=tuple(_writes(request.tools, place, files)))
    nonce = _NONCE.findall(prompt)[-1]
    blocks = "".join(
        f"~~~~~ document {nonce} {path.rpartition('/')[2]}\n{text}~~~~~\n\n"
        for path, text in sorted(documents.items())
    )
    return Turn(blocks + answer)


def _answered(prompt: str, folder: Path) -> str:
    """The answer of the scripted agent; its files are in the folder."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(_PROGRAM)],
        input=prompt,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    return str(json.loads(done.stdout.splitlines()[-1])["result"])


def _contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8", "replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _writes(tools: tuple[str, ...], place: Path, files: dict[str, str]) -> Iterator[Call]:
    for path, text in files.items():
        if "Write" in tools:
            yield Call("Write", {"file_path": str(place / path), "content": text})
        elif "exec_command" in tools:
            encoded = base64.b64encode(text.encode()).decode()
            folder = (Path(path).parent).as_posix()
            line = f"mkdir -p {folder} && printf %s {encoded} | base64 -d > {path}"
            yield Call("exec_command", {"cmd": line})


def in_chat(request: Request) -> Turn:
    """The same, and in a chat a model that follows the skill `fairlead-status`."""
    said = request.conversation
    if _NONCE.search(said) or "fairlead status --json" not in said:
        return by_script(request)
    if not has_answer(request):
        line = {"command": "fairlead status --json", "description": "Read the status"}
        return Turn(calls=(Call("Bash", line),))
    document = next(filter(None, map(_status_in, request.texts)), None)
    return Turn(_report_of(document) if document else "The command printed no status.")


def _status_in(text: str) -> dict[str, Any] | None:
    """The document that `fairlead status --json` printed, if a text is one."""
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) and "progress" in document else None


def _report_of(document: Mapping[str, Any]) -> str:
    """What the skill wants to hear: position, progress, and the next command with its reason."""
    done = document["progress"]
    return (
        f"{document['title']}, {document['milestone']}: {done['completed_plans']} of "
        f"{done['total_plans']} plans and {done['completed_phases']} of {done['total_phases']} "
        f"phases are done.\nNext: `{document['next']['command']}` ({document['next']['reason']})."
    )
