"""Writes workflows and roles in the form of each host: skills, commands and subagents.

The formats: SKILL.md for Claude Code and Codex, Markdown commands for OpenCode, TOML commands for
Gemini CLI; subagents in Markdown for Claude Code and OpenCode, in TOML for Codex.
"""

from __future__ import annotations

import json

from fairlead.interfaces.install.parts import MARK
from fairlead.interfaces.install.subagents import Subagent
from fairlead.interfaces.install.workflows import MISSING, RULES, HostWorkflow

_NOTE = f"<!-- {MARK}; do not edit. -->"
_READERS = ("read", "grep", "glob", "list")


def workflow_body(
    workflow: HostWorkflow, fairlead: str, arguments: str, *, is_plugin: bool = False
) -> str:
    """What the agent is asked to do."""
    steps = [
        f"{number}. {_filled(step, fairlead, arguments)}"
        for number, step in enumerate(workflow.steps, 1)
    ]
    rules = [f"- {rule}" for rule in (*RULES, *((MISSING,) if is_plugin else ()))]
    return "\n".join((f"{workflow.summary}\n", *steps, "\nRules:\n", *rules)) + "\n"


def claude_skill(
    workflow: HostWorkflow, name: str, fairlead: str, *, is_plugin: bool = False
) -> str:
    """SKILL.md of Claude Code."""
    front = {"name": name, "description": workflow.description}
    if workflow.argument:
        front["argument-hint"] = f"[{workflow.argument}]"
    if workflow.starts_job:
        front["disable-model-invocation"] = "true"
    else:
        front["allowed-tools"] = f"Bash({fairlead} *)"
    body = workflow_body(workflow, fairlead, "$ARGUMENTS", is_plugin=is_plugin)
    return _with_front(front, body)


def codex_skill(
    workflow: HostWorkflow, name: str, fairlead: str, *, is_plugin: bool = False
) -> str:
    """SKILL.md of Codex, which puts no arguments into the text."""
    front = {"name": name, "description": workflow.description}
    arguments = "what the person wrote after the name of this skill"
    body = workflow_body(workflow, fairlead, arguments, is_plugin=is_plugin)
    return _with_front(front, body)


def opencode_command(workflow: HostWorkflow, fairlead: str) -> str:
    """A command of OpenCode."""
    body = workflow_body(workflow, fairlead, "$ARGUMENTS")
    return _with_front({"description": workflow.summary}, body)


def gemini_command(workflow: HostWorkflow, fairlead: str) -> str:
    """A command of Gemini CLI."""
    body = workflow_body(workflow, fairlead, "{{args}}")
    return (
        f"# {MARK}; do not edit.\n"
        f"description = {json.dumps(workflow.summary)}\n"
        f"prompt = {_toml_text(body)}\n"
    )


def claude_agent(agent: Subagent, name: str) -> str:
    """A subagent of Claude Code."""
    front = {"name": name, "description": _when(agent), "tools": ", ".join(agent.tools)}
    return _with_front(front, agent.instructions + "\n")


def codex_agent(agent: Subagent, name: str) -> str:
    """A subagent of Codex."""
    sandbox = "workspace-write" if agent.writes else "read-only"
    return (
        f"# {MARK}; do not edit.\n"
        f"name = {json.dumps(name)}\n"
        f"description = {json.dumps(_when(agent))}\n"
        f'sandbox_mode = "{sandbox}"\n'
        f"developer_instructions = {_toml_text(agent.instructions + chr(10))}\n"
    )


def opencode_agent(agent: Subagent) -> str:
    """A subagent of OpenCode. Roles that only read may neither edit nor run commands."""
    front = {"description": _when(agent), "mode": "subagent"}
    text = _with_front(front, agent.instructions + "\n")
    if agent.writes:
        return text
    return text.replace("mode: subagent\n", "mode: subagent\npermission:\n  edit: deny\n", 1)


def opencode_plugin(program: tuple[str, ...]) -> str:
    """The plugin of OpenCode, which calls the hooks."""
    return _OPENCODE_PLUGIN.replace("@MARK@", MARK).replace("@PROGRAM@", json.dumps(program))


def _when(agent: Subagent) -> str:
    return f"{agent.purpose} For projects with a .planning folder, when the person asks for it."


def _filled(text: str, fairlead: str, arguments: str) -> str:
    return text.replace("{fairlead}", fairlead).replace("{arguments}", arguments)


def _with_front(front: dict[str, str], body: str) -> str:
    lines = [f"{key}: {_yaml(value)}" for key, value in front.items()]
    return "\n".join(("---", *lines, "---", "", _NOTE, "", body))


def _yaml(value: str) -> str:
    """A scalar; quoted where YAML would read it as something else."""
    is_plain = value.replace("-", "").isalnum()
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _toml_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
    return f'"""\n{escaped}"""'


_OPENCODE_PLUGIN = """\
// @MARK@; do not edit.
// Calls Fairlead's hooks: the facts of the project go into the system prompt, and a session with an
// open plan is asked to go on. Agents that Fairlead itself started get nothing.
import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@

function hook(name, message) {
  return new Promise((resolve) => {
    const [command, ...words] = PROGRAM
    const options = { stdio: ["pipe", "pipe", "ignore"], timeout: 20000 }
    const child = spawn(command, [...words, "hook", name], options)
    let output = ""
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (piece) => (output += piece))
    child.on("close", () => {
      try {
        resolve(JSON.parse(output || "{}"))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(message))
  })
}

export const Fairlead = async ({ client, directory }) => {
  if (process.env.FAIRLEAD_JOB) return {}
  const facts = new Map()
  const message = (session, event) => ({ session_id: session, cwd: directory, hook_event_name: event })
  const isSubagent = async (session) => {
    const found = await client.session.get({ path: { id: session } }).catch(() => undefined)
    return Boolean(found?.data?.parentID)
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session) return
      if (!facts.has(session)) facts.set(session, hook("session-start", message(session, "SessionStart")))
      const text = (await facts.get(session)).hookSpecificOutput?.additionalContext
      if (text) output.system.push(text)
    },
    "experimental.session.compacting": async (input) => {
      await hook("pre-compact", message(input.sessionID, "PreCompact"))
      facts.delete(input.sessionID)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type !== "session.idle" || !session || (await isSubagent(session))) return
      const answer = await hook("stop", message(session, "Stop"))
      if (answer.decision !== "block") return
      const parts = [{ type: "text", text: answer.reason }]
      await client.session.promptAsync({ path: { id: session }, body: { parts } }).catch(() => {})
    },
  }
}
"""
