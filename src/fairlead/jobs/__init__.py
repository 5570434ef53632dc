"""One mechanism for every long-running job: executions, workflows and councils.

Rule: a job is what its folder holds. A run reads the folder, decides, does one thing and reads
again, so resuming a job means running it again.

Start with `model.py` (the record, gates, questions), then `folder.py` (where they are stored),
`context.py` (what a run works with), `loop.py` (how it runs) and `calls.py` (the one way to an
agent). `kinds.py` is how the packages above add their kinds; `service.py` is what people use.
"""
