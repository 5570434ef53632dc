"""Version control: git, worktrees, copies of a project, and GitHub issues.

Other packages use the protocols in `ports.py` and the values in `model.py`. Two classes implement
`Workspace`: `git.Git`, and `in_place.InPlace` for a project without a repository.

Rules: git is started in one way only, with everything switched off that a repository could use
to run its own code (`git_view.py`); commits and merges are made without a checkout (`git.py`).
Start reading at `ports.py`.
"""
