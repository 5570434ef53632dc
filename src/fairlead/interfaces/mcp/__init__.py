"""The MCP server: ten tools, the documents and jobs as resources, and a prompt per workflow.

A tool makes one call and returns the object that `--json` prints for the same question. It never
approves, accepts, vetoes or rules: for these it returns the command that a person runs. Tools that
write can be switched off, and are off for every agent that Fairlead itself started.

`tools.py` has the tools, `arguments.py` reads what a client sends, `server.py` is the only module
that imports the SDK, and `http.py` serves it on loopback with a token.
"""
