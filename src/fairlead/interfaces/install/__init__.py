"""Install: puts Fairlead into a host agent in the host's own form, and removes it again.

`workflows` and `subagents` are the one source of all texts; `render` writes them in the form of
each host, `hosts` says which files a host reads, `plugins` makes the plugins of this repository.
`service` carries a plan out with a `receipt`. Rule: uninstalling restores every file byte for
byte, and what belongs to the user stays. Start reading in `hosts.py`.
"""
