"""The program of the scripted agent: it executes or reviews a task by a fixed script.

It knows only its prompt and its folder. The first task of a phase's first plan fails twice, so
that a rehearsal shows retries: first a file is missing, then a placeholder is left in. As the
architect it rejects declared files that are missing or contain the placeholder.
"""

import json
import keyword
import os
import re
import sys
from importlib import import_module
from textwrap import dedent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_PLACEHOLDER = "placeholder: to be done"
_TEXT_LIMIT = 1 << 20
_DEFINED = re.compile(r"\b(def|class|function|const) ([A-Za-z_]\w*)")
_IMPORTED = re.compile(r"\bfrom [\w.]+ import ([\w, ]+)")
_USED = re.compile(r"\bfrom (\w+) import ([A-Za-z_]\w*)")
_QUOTED = re.compile(r"""(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`)""")
_GIVEN = re.compile(r"^[ \t]*In (\S+) write:\n((?:[ \t]{4,}\S.*\n|[ \t]*\n)+)", re.MULTILINE)
_COMMENTS = {
    ".py": "# ", ".sh": "# ", ".toml": "# ", ".yml": "# ", ".yaml": "# ",
    ".js": "// ", ".ts": "// ", ".tsx": "// ", ".go": "// ", ".rs": "// ", ".c": "// ",
    ".css": "/* {} */", ".html": "<!-- {} -->",
}  # fmt: skip


class Prompt:
    """The task and the form of the answer in a prompt."""

    def __init__(self, text: str) -> None:
        template = text[text.rfind("```json") :]
        self.nonce = _first(r'"nonce": "([^"]+)"', template)
        self.name = _first(r'"task_name": "([^"]+)"', template) or "Task 1: unnamed"
        self.is_review = '"verdict"' in template
        self.plan = _first(r"\bPlan (\S+)", text)
        attempt = _first(r"\| This is attempt (\d+)", text) or _first(r"\battempt (\d+)", text)
        self.attempt = int(attempt or 1)
        earlier = _framed(text, "earlier").lower()
        self.was_rejected = "reject" in earlier
        task = _framed(text, "task")
        self.verify = _tag(task, "automated") or _tag(task, "verify")
        action = _tag(task, "action") + "\n"
        self.given = {path: dedent(code) for path, code in _GIVEN.findall(action)}
        self.description = "\n".join(_tag(task, name) for name in ("action", "done", "verify"))
        listed = re.split(r"[,\n]", _tag(task, "files"))
        self.files = [path for item in listed if (path := item.strip(" -*`")) and _is_inside(path)]

    @property
    def fails_first(self) -> bool:
        """Whether this is the task that the script lets fail at first."""
        is_first = bool(re.search(r"(?:^|\D)0*1$", self.plan.rstrip("."))) and "-" in self.plan
        return is_first and _first(r"Task (\d+)", self.name) == "1"


def main() -> None:
    """Read a prompt, do what it asks, and report events like Claude Code."""
    text = sys.stdin.read()
    prompt = Prompt(text)
    _say(type="system", subtype="init", session_id="scripted", model="scripted")
    answer = ""
    if "council" in text.partition("\n")[0]:
        answer = _sibling("council").answer(text)
    elif "\nRole: " in text:
        answer = _sibling("roles").answer(text)
    if answer:
        pass
    elif not prompt.nonce:
        answer = "ready"
    elif prompt.is_review:
        answer = _verdict(prompt)
    else:
        answer = _result(prompt)
    usage = {"inputTokens": len(text) // 4 + 1, "outputTokens": len(answer) // 4 + 1}
    _say(type="assistant", message={"content": [{"type": "text", "text": answer}]})
    _say(
        type="result", subtype="success", is_error=False, result=answer, session_id="scripted",
        total_cost_usd=0, modelUsage={"scripted": usage},
    )  # fmt: skip


def _sibling(name: str) -> "ModuleType":
    """Another module of this folder, which is not on the path of an isolated interpreter."""
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    return import_module(name)


def _result(prompt: Prompt) -> str:
    misses_file = prompt.fails_first and prompt.attempt == 1
    has_placeholder = prompt.fails_first and prompt.attempt == 2 and not prompt.was_rejected
    made = prompt.files[:-1] if misses_file else prompt.files
    for number, path in enumerate(made):
        _use("Write", path, number)
        _write(path, prompt, mark=_PLACEHOLDER if has_placeholder and number == 0 else "")
        _used(number)
    return "The task is carried out.\n\n" + _block(
        {
            "nonce": prompt.nonce,
            "status": "success",
            "task_name": prompt.name,
            "files_modified": made,
            "verification": {"command": prompt.verify, "exit_code": 0, "output_summary": ""},
            "done_criteria_met": True,
            "evidence": "; ".join(f"{path} is there" for path in made) or "nothing was to be made",
            "error": None,
        }
    )


def _verdict(prompt: Prompt) -> str:
    checks = [(path, _fault(path)) for path in prompt.files]
    faults = [fault for _, fault in checks if fault]
    return "I have looked at every file.\n\n" + _block(
        {
            "nonce": prompt.nonce,
            "verdict": "REJECTED" if faults else "APPROVED",
            "task_name": prompt.name,
            "verification_checks": [
                {"check": path, "result": "fail" if fault else "pass", "details": fault}
                for path, fault in checks
            ],
            "feedback": "; ".join(faults),
            "confidence": "high",
            "concerns": [],
        }
    )


def _fault(path: str) -> str:
    if os.path.isdir(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_TEXT_LIMIT)
    except OSError:
        return f"{path} is missing"
    if _PLACEHOLDER in text:
        return f"{path} has a placeholder instead of the work"
    return "" if text.strip() else f"{path} is empty"


def _write(path: str, prompt: Prompt, mark: str) -> None:
    kind = os.path.splitext(path)[1]
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            old = file.read(_TEXT_LIMIT).replace(_PLACEHOLDER, "").rstrip("\n")
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    if path in prompt.given:
        text = prompt.given[path].rstrip("\n") + (f"\n# {mark}\n" if mark else "\n")
    else:
        text = _json(old, prompt, mark) if kind == ".json" else _lines(path, old, prompt, mark)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _lines(path: str, old: str, prompt: Prompt, mark: str) -> str:
    """Text with every word that the verify command may search for."""
    kind = os.path.splitext(path)[1]
    form = _COMMENTS.get(kind, "")
    form = form if "{}" in form else form + "{}"
    words = [prompt.name, *_looked_for(prompt.verify), *([mark] if mark else [])]
    lines = [form.format(word) for word in words if word not in old]
    if kind in (".md", "") and not old:
        lines.insert(0, f"# {prompt.name}\n")
    if kind == ".py":
        lines += [line for line in _code(path, prompt) if line not in old]
    return "\n".join(filter(None, (old, *lines))) + "\n"


def _code(path: str, prompt: Prompt) -> list[str]:
    """Python that defines the names in the task, or calls them in a file `use_*`."""
    module_name = os.path.splitext(os.path.basename(path))[0]
    others = {os.path.splitext(os.path.basename(file))[0] for file in prompt.files} - {module_name}
    for module, names in _USED.findall(prompt.description):
        if module in others and module_name.startswith("use_"):
            calls = [f"assert {name}(1) == (1,)" for name in re.findall(r"[A-Za-z_]\w*", names)]
            return [f"from {module} import {names.strip()}", *calls]
    return _definitions(prompt.description)


def _definitions(description: str) -> list[str]:
    """Python that defines the names in the task."""
    names = {name: kind for kind, name in _DEFINED.findall(description)}
    for listed in _IMPORTED.findall(description):
        for name in re.findall(r"[A-Za-z_]\w*", listed):
            names.setdefault(name, "def")
    return [
        f"class {name}:\n    pass"
        if kind == "class"
        else f"def {name}(*values):\n    return values"
        for name, kind in sorted(names.items())
        if not (name[0].isdigit() or keyword.iskeyword(name))
    ]


def _json(old: str, prompt: Prompt, mark: str) -> str:
    try:
        content = json.loads(old or "{}")
    except ValueError:
        return old + "\n"
    if isinstance(content, dict):
        content.setdefault("name", prompt.name)
        content.pop("left", None)
        content.update({"left": mark} if mark else {})
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _looked_for(verify: str) -> list[str]:
    """The quoted parts of a command and the words after `grep`, without pattern characters."""
    pieces = ["".join(groups) for groups in _QUOTED.findall(verify)]
    pieces += re.findall(r"\bgrep (?:-\w+ )*([\w.-]+)", verify)
    return [re.sub(r"\\(.)", r"\1", piece).strip("^$") for piece in pieces]


def _block(answer: "dict[str, object]") -> str:
    return "```json\n" + json.dumps(answer, indent=2, ensure_ascii=False) + "\n```\n"


def _framed(text: str, name: str) -> str:
    """A framed section of the prompt, without its frame."""
    found = re.search(rf"^\[\[{name} (\w+)\n(.*?)^{name} \1\]\]$", text, re.MULTILINE | re.DOTALL)
    lines = found[2].splitlines() if found else []
    return "\n".join(line.removeprefix("| ") for line in lines)


def _tag(text: str, name: str) -> str:
    return _first(rf"(?s)<{name}>(.*?)</{name}>", text).strip()


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    is_ours = parts[0] not in ("", "~", ".git", ".planning", ".claude") and " " not in path
    return is_ours and ".." not in parts and not path.endswith("/") and "*" not in path


def _use(tool: str, path: str, number: int) -> None:
    block = {"type": "tool_use", "id": f"call-{number}", "name": tool, "input": {"file_path": path}}
    _say(type="assistant", message={"content": [block]})


def _used(number: int) -> None:
    block = {"type": "tool_result", "tool_use_id": f"call-{number}", "is_error": False}
    _say(type="user", message={"content": [block]})


def _say(**event: object) -> None:
    os.write(1, json.dumps(event).encode() + b"\n")


if __name__ == "__main__":
    main()
