"""The workflows: create a project, discuss and plan a phase, quick tasks, debugging, capture, pause.

`new`, `discuss`, `plan`, `quick` and `debug` ask roles, run as jobs and can be resumed: a workflow
is a function that runs from its beginning every time, and the calls and answers recorded in the
job's folder keep it from asking twice. `capture` and `pause` ask nobody and change documents only.

A role never writes a document of the project. It answers in a scratch folder, Fairlead reads and
checks the answer, and one transaction writes the documents together with STATE.md.

Start with `service` (a workflow as a job), `role_calls` (asking a role) and `roles` (the table).
"""
