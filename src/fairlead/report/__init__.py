"""Pictures and pages of a project: graphs, and the report of a job or a phase.

Rule: one layout serves every format, a page loads nothing from elsewhere, and text from files and
agents is filtered for secrets and escaped where it is written into SVG, HTML or Markdown.

Start with `service.py` (collects what a graph or a report shows), then `graph.py` and `content.py`
(values to nodes and sections), `layout.py` (positions), and the renderers: `formats.py` (SVG,
Mermaid, dot), `html.py` and `markdown.py`.
"""
