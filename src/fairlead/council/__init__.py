"""The council: six seats plan a request, one plan is made of theirs, and all six vote on it.

A job runs through four stages: the PM turns the request into a brief, the seats plan without
seeing each other, the synthesiser writes the master plan, the seats review it in up to three
rounds. An approved plan becomes a phase and is executed.

The rule: code counts votes, never a model. Every answer is stored unchanged before it is used, and
the record of a job can be derived from the stored answers at any time.

Start with `model` (record and status transitions), `tally` (votes, veto, deadlock) and `decide`
(what happens next); `service` is what other packages call.
"""
