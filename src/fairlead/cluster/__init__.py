"""The same agent calls and verify commands on other machines, through Temporal (extra `cluster`).

The coordinator keeps the files, decides, lands and records. It pushes the commit that a call works
on, starts one Temporal execution for the call and waits. A worker fetches the commit, runs the
agent under our supervisor, pushes the resulting tree and reports. Temporal supplies queues,
heartbeats, takeover, retries and rates; none of that is written here. A report is a claim:
`claims.py` decides what is refused, and the verify run on the merged tree stays with the
coordinator.

Start reading in `model.py`, then `adapter.py` (coordinator) and `worker.py`. Only this package
imports `temporalio`.
"""
