"""Notifications: tell the person that a job waits for them, failed or ended.

Off unless the person's own file `notify.json` switches a channel on: the desktop, the terminal
bell, or a webhook. The file must belong to them alone (mode 0600); a project cannot set anything
here. A message contains ids, status words and the name of the project's folder, and no text of an
agent. A notification that cannot be sent is noted in the job's journal and stops nothing.

Start with `service.py`; `model.py` decides which event is worth a message.
"""
