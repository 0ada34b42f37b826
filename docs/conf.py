"""How Sphinx builds these pages into a site: `make site`."""

project = "agent-sync"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "agent-sync"
source_suffix = {".md": "markdown"}
# Headings are what links name, as on GitHub.
myst_heading_anchors = 4
exclude_patterns = ["_build"]
# Files outside of docs/ are not part of the site: tests/docs checks links to them, as it does all others.
suppress_warnings = ["misc.highlighting_failure", "myst.xref_missing"]
