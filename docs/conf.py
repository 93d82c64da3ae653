"""Configuration of the documentation site: sphinx-build -W -n -b html docs build/site."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _generate import api_members, cli_pages, paper_pages, repository_files, solver_cards  # noqa: E402
from pygments.lexers.special import TextLexer  # noqa: E402

import fastcrf  # noqa: E402

project = "fastcrf"
author = "The fastcrf developers"
release = version = fastcrf.__version__
copyright = "The fastcrf developers, MIT license"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_generate", "_static", "_templates", "tutorials/*.ipynb", "tutorials/*.py", "tutorials/*.json"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]
nitpick_ignore_regex = [("py:obj", r"sklearn\..*")]
default_role = "code"
smartquotes = False  # --force is an option, not a dash
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings give the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_validation_checks = {"all", "ES01", "EX01", "SA01"}  # all but: extended summary, examples, see also
numpydoc_validation_exclude = {  # exceptions to numpydoc's rules
    r"\.compat\.",  # has the docstrings of the packages that it stands for
    r"\.exceptions\.(?!OptionError|PenaltyError)",  # plain ValueErrors
    r"\.solvers\.Solver",  # a protocol
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"\.py$",  # every script is executed
    "within_subsection_order": "_generate.gallery_order.reading_order",
    "abort_on_example_error": True,
    "write_computation_times": False,  # that page loads scripts from other servers
    "download_all_examples": False,
    "inspect_global_variables": False,  # it looks for classes under old names, which raise an error of their own
    "show_signature": False,
    "min_reported_time": 10_000,
    "copyfile_regex": r".*\.txt",
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = f"fastcrf {release}"
html_static_path = ["_static"]
html_css_files = ["fastcrf.css"]
html_js_files = ["solver_filter.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # summaries are fetched, which a browser forbids for files
html_sidebars = {"index": [], "faq": []}
html_theme_options = {
    "logo": {"text": "fastcrf"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 4,
    "primary_sidebar_end": [],
    "secondary_sidebar_items": {  # none beside solver cards and benchmarks, which are wide
        pattern: ["page-toc"]
        for pattern in (
            "*",
            "tutorials/*",
            "how-to/*",
            "explanation/*",
            "develop/*",
            "reference/api/*",
            "reference/cli/*",
        )
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}


def setup(app) -> None:
    app.add_lexer("tree", TextLexer)  # the packages in architecture.md
    app.connect("builder-inited", lambda app: generate(), priority=400)  # before autosummary reads the pages
    app.connect("autodoc-skip-member", api_members.skip_foreign)
    app.connect("source-read", repository_files.rewrite_links)


def generate() -> None:
    solver_cards.write_pages(HERE / "reference" / "solvers")
    cli_pages.write_pages(HERE / "reference" / "cli")
    repository_files.write_pages(HERE / "develop")
    paper_pages.write_page(HERE)
