"""What follows from the files: inventory, scope, progress, position and next action.

`scan` reads the planning folder into an `Inventory`; everything else here is pure. STATE.md is
never consulted for a number: it is a digest that is compared with the result. `headline` and
`meter` are also used by the status line, which imports nothing but the standard library.

Start in `inventory.py`, then read `scope.py`, `progress.py` and `position.py` in that order.
"""
