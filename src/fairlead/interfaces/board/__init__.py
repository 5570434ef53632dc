"""The terminal board: the project in a terminal, also over ssh, following its files.

Rule: everything shown comes from `views`, every action calls the service that the command line
calls, and text reaches the terminal only as `safe_text`: never as markup, never with control
characters. textual is imported here and nowhere else.

Start with `app.py` (screens, keys and what they do), then `dialogs.py` (what asks the person) and
`text.py` (how text becomes safe).
"""
