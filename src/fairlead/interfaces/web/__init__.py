"""The web board: a page on loopback that shows the project and follows its files.

Rule: a request acts only with a session that began with a one-time code, from this very address,
and writes only through a form with the secret of that session. Every object on a page comes from
`views`, and every action calls the service that the command line calls.

Start with `server.py` (routes), then `access.py` (who may ask), `pages.py` (what is shown),
`actions.py` (what a person can do) and `changes.py` (when open pages are refreshed).
"""
