"""The `fairlead` command.

One module per command or command group; each parses options, makes one call and shows the result.
`main.py` finds the command and turns errors into exit codes. Shared parts: `options.py` (options
and decorators), `output.py` (everything printed), `agent_command.py` (commands that run agents),
`live_view.py` (following a job), `status_page.py` and `job_page.py` (pages). Rule: flags, JSON
keys and exit codes never change, and a short command does not import a long one.
"""
