"""Settings files of hosts: fifty that can be edited, and some that cannot."""

_HOOK = '{"hooks": [{"type": "command", "command": "notify-send done"}]}'
_ODD = '{  "b":1 ,\n\n"a" : [ 1,2 ,\t3 ] , "c":{ } }'
_DEEP = '{"a": ' * 30 + "1" + "}" * 30

SETTINGS = {
    "nothing at all": "",
    "a blank line": "\n",
    "blanks": "  \t \r\n ",
    "only a BOM": "\ufeff",
    "an empty object": "{}",
    "an empty object and a line break": "{}\n",
    "an empty object over two lines": "{\n}\n",
    "an empty object with blanks": "{   }",
    "blanks around it": "\n\n  {}  \n\n",
    "one key": '{"model": "opus"}',
    "one key without a last line break": '{\n  "model": "opus"\n}',
    "one key with a last line break": '{\n  "model": "opus"\n}\n',
    "several line breaks at the end": '{\n  "model": "opus"\n}\n\n\n',
    "four blanks": '{\n    "model": "opus",\n    "n": 1\n}\n',
    "tabs": '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "b"\n\t}\n}\n',
    "CRLF": '{\r\n  "model": "opus"\r\n}\r\n',
    "CRLF without an end": '{\r\n  "model": "opus"\r\n}',
    "lone CR": '{\r  "model": "opus"\r}\r',
    "mixed line breaks": '{\r\n  "a": 1,\n  "b": 2\r\n}\n',
    "BOM": '\ufeff{\n  "model": "opus"\n}\n',
    "BOM and CRLF": '\ufeff{\r\n  "model": "opus"\r\n}\r\n',
    "odd spacing": _ODD,
    "blanks before the colon": '{\n  "model"   :   "opus"\n}\n',
    "a comma at the start of a line": '{\n  "a": 1\n, "b": 2\n}\n',
    "deep": _DEEP,
    "unknown nested keys": '{"future": {"x": [{"y": null}], "z": {}}, "also": [[], [{}]]}\n',
    "numbers as written": '{"a": 1.0, "b": 1e3, "c": -0, "d": 0.10}\n',
    "escapes": '{"a": "\\u00e9\\n\\"\\\\", "b": "\\/"}\n',
    "emoji and other alphabets": '{"a": "日本 🎉 é"}\n',
    "empty hooks": '{"hooks": {}}\n',
    "empty hooks over lines": '{\n  "hooks": {\n  }\n}\n',
    "an event without hooks": '{"hooks": {"Stop": []}}\n',
    "a hook for the same event": '{\n  "hooks": {\n    "Stop": [\n      '
    + _HOOK
    + "\n    ]\n  }\n}\n",
    "a hook for the same event on one line": '{"hooks": {"Stop": [' + _HOOK + "]}}",
    "two hooks for the same event": '{"hooks": {"Stop": [' + _HOOK + ", " + _HOOK + "]}}",
    "a hook for another event": '{\n  "hooks": {\n    "PreToolUse": [' + _HOOK + "]\n  }\n}\n",
    "hooks for both events": '{"hooks": {"SessionEnd": [' + _HOOK + '], "Stop": [' + _HOOK + "]}}",
    "a matcher": '{"hooks": {"Stop": [{"matcher": "*", "hooks": []}]}}\n',
    "hooks first and keys after": '{\n  "hooks": {"Stop": ['
    + _HOOK
    + ']},\n  "model": "opus"\n}\n',
    "hooks in tabs": '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t' + _HOOK + "\n\t\t]\n\t}\n}\n",
    "hooks in CRLF": '{\r\n  "hooks": {\r\n    "Stop": [\r\n      '
    + _HOOK
    + "\r\n    ]\r\n  }\r\n}\r\n",
    "an event nobody knows": '{"hooks": {"Tomorrow": [' + _HOOK + "]}}\n",
    "a status line": '{"statusLine": {"type": "command", "command": "~/bin/my line | head -1"}}\n',
    "a status line with more": '{\n  "statusLine": {\n    "type": "command",\n'
    '    "command": "a \'b\' \\"c\\"",\n    "padding": 2,\n    "refreshInterval": 5\n  }\n}\n',
    "a status line that is null": '{"statusLine": null}\n',
    "a status line of another kind": '{"statusLine": {"type": "other"}}\n',
    "a status line and hooks": '{"statusLine": {"type": "command", "command": "x"}, "hooks": {"Stop": ['
    + _HOOK
    + "]}}\n",
    "permissions and secrets": '{\n  "permissions": {"allow": ["Bash(ls:*)"]},\n  "env": {"KEY": "v"}\n}\n',
    "hooks switched off": '{"disableAllHooks": true}\n',
    "keys that look like ours": '{"fairlead": {"hook": "stop"}, "x": "fairlead hook stop"}\n',
    "a very long line": '{"a": "' + "x" * 20000 + '"}\n',
    "many keys": "{" + ", ".join(f'"k{n}": {n}' for n in range(300)) + "}\n",
}

REFUSED = {
    "a comment": '{\n  // mine\n  "a": 1\n}\n',
    "a comma too many": '{"a": 1,}\n',
    "a key twice": '{"a": 1, "a": 2}\n',
    "hooks twice": '{"hooks": {}, "hooks": {"Stop": []}}\n',
    "cut off": '{"a": ',
    "no JSON": "hello\n",
    "a list": "[]\n",
    "a text": '"x"\n',
    "a number": "5\n",
    "NaN": '{"a": NaN}\n',
    "two documents": "{} {}\n",
    "hooks as a list": '{"hooks": []}\n',
    "hooks as a text": '{"hooks": "x"}\n',
    "hooks as null": '{"hooks": null}\n',
    "an event as an object": '{"hooks": {"Stop": {}}}\n',
    "an event as a text": '{"hooks": {"Stop": "x"}}\n',
    "too deep": '{"a": ' * 70 + "1" + "}" * 70,
}

# JSON with comments, as OpenCode and Gemini CLI read it. The words of comments are in capitals.
COMMENTED = {
    "a comment above": '// MINE\n{\n  "a": 1\n}\n',
    "a comment inside an empty object": "{\n  // NOTHING YET\n}\n",
    "a comment after the last value": '{\n  "a": 1 // ONE\n}\n',
    "a comment after a trailing comma": '{\n  "a": 1, // ONE\n}\n',
    "a trailing comma": '{\n  "a": 1,\n  "b": [1, 2,],\n}\n',
    "a comment on one line": '{"a": 1} // END\n',
    "a block comment before the end": '{"a": 1 /* ONE */}\n',
    "a comment in the only line of an object": '{"a": 1 // ONE\n}\n',
    "a slash in a string": '{\n  "a": "http://x/*y*/" // URL\n}\n',
    "CRLF and comments": '{\r\n  // MINE\r\n  "a": 1 // ONE\r\n}\r\n',
    "a BOM and a comment": '\ufeff// MINE\n{\n\t"a": 1\n}\n',
    "a comment in empty hooks": '{\n  "hooks": {\n    // HOOKS\n  }\n}\n',
    "a hook with comments": '{\n  // ABOVE\n  "hooks": {"Stop": [' + _HOOK + " // MINE\n]}\n}\n",
}

# The settings of Codex.
TOML = {
    "TOML: nothing": "",
    "TOML: a blank line": "\n",
    "TOML: a key": 'model = "x"\n',
    "TOML: no line break at the end": 'model = "x"',
    "TOML: CRLF": 'model = "x"\r\n\r\n[tui]\r\ntheme = "y"\r\n',
    "TOML: BOM": '\ufeffmodel = "x"\n',
    "TOML: comments and blank lines": '# mine\n\n\nmodel = "x" # here\n\n\n',
    "TOML: another server": '[mcp_servers.other]\ncommand = "x"\nargs = ["a"]\n',
    "TOML: a multiline string": 'note = """\n[mcp_servers.fairlead]\n# fairlead:end\n"""\n',
    "TOML: arrays of tables": "[[a]]\nb = 1\n\n[[a]]\nb = 2\n",
    "TOML: trust": '[projects."/x"]\ntrust_level = "trusted"\n',
}
TOML_REFUSED = {
    "an inline table of servers": 'mcp_servers = { other = { command = "x" } }\n',
    "a server of our name": '[mcp_servers.fairlead]\ncommand = "x"\n',
    "no TOML": "model = \n",
}

# Memory files: CLAUDE.md, AGENTS.md, GEMINI.md.
MEMORIES = {
    "memory: a text": "# Mine\n\nUse tabs.\n",
    "memory: no line break at the end": "# Mine",
    "memory: blank lines at the end": "# Mine\n\n\n",
    "memory: CRLF": "# Mine\r\n\r\nUse tabs.\r\n",
    "memory: CRLF without an end": "# Mine\r\nUse tabs.",
    "memory: BOM": "\ufeff# Mine\n",
    "memory: only a BOM": "\ufeff",
    "memory: empty": "",
    "memory: a blank line": "\n",
    "memory: our words": "<!-- fairlead is used here -->\n",
}
