"""ROADMAP.md and MILESTONES.md: reading and editing.

The roadmap may list its phases as headings, bullets or table rows, in any mix. Reading accepts all
forms; an edit changes only its own lines and copies the style of the neighbouring phases. Nothing
here looks at the disk: `project.derive` pairs the phases with their folders.

Start in `entries.py`, which finds the lines that name a phase or a milestone, then read
`documents.py`. The other modules are edits: phases, milestones, plan lists, progress marks, numbers.
"""
