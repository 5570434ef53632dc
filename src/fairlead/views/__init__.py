"""The objects that every interface returns, built in one place.

`--json` on the command line, the MCP server and the web board show the same object for the same
question. A function here takes the application, makes one call and returns a frozen value (or,
where the keys depend on the outcome, a dict); `document.py` turns it into the JSON document. A
view contains facts only: columns, colours and sentences for a terminal belong to the interface.

Start with `document.py`, then `status.py`; there is one module for each subject.
"""
