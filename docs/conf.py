"""The site: `make docs` builds it into build/site, with every warning an error.

The source folder is the repository itself, not `docs/`: pages link to benchmarks, examples and
tests by the paths they have on a code host, and these links hold on the site too.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from docutils import nodes  # noqa: E402
from sphinx.roles import XRefRole  # noqa: E402
from sphinx_gallery.sorting import ExplicitOrder  # noqa: E402

import gradsift  # noqa: E402

project = "gradsift"
author = "The gradsift developers"
copyright = "The gradsift developers, BSD 3-clause licence"
release = version = gradsift.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_llms_txt",
]
root_doc = "docs/start"
include_patterns = [
    "docs/**",
    "packaging/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "SUPPORT.md",
    "CODE_OF_CONDUCT.md",
]
exclude_patterns = [
    "docs/gallery/**/*.md5",
    "docs/gallery/**/*.ipynb",
    "docs/gallery/**/*.py",
    "docs/_templates",
    "build",
    "src",
    "tests",
    ".*",
]
templates_path = [str(ROOT / "docs" / "_templates")]  # both Sphinx and autosummary find it
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
toc_object_entries_show_parents = "hide"
default_role = "code"  # `names` in docstrings and examples
nitpicky = False  # types of other libraries need their inventories, and so a network
suppress_warnings = ["config.cache"]  # functions in sphinx_gallery_conf

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4  # links such as page.md#a-heading work as on a code host

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# the first to read first; an example that is not named here comes last
READING_ORDER = """
circles turlach xor interaction shapes breast_cancer digits directions explain_samples
findings stability q_values noise held_out outliers before_forest pipeline covariates donors
anndata manhattan spectrum wide own_source own_kernel paper_path
"""

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": os.environ.get("GRADSIFT_EXAMPLES", r"/plot_"),
    "ignore_pattern": r"dask_cluster\.py",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1,
    "only_warn_on_example_error": False,
    "reset_modules": ("matplotlib",),
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(ROOT / "docs" / "demo_report.png"),
    "remove_config_comments": True,
    "within_subsection_order": ExplicitOrder(
        [f"plot_{name}.py" for name in READING_ORDER.split()] + ["*"]
    ),
    "capture_repr": (),  # what is printed is shown, not the address of what a line returned
}

html_title = "gradsift"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = [str(path) for path in [ROOT / "build" / "browser"] if path.exists()]
html_additional_pages = {"index": "to_start.html"}  # the root of the site leads to the start page
html_show_sourcelink = False
html_copy_source = True
html_theme_options = {
    "logo": {"text": "gradsift"},
    "navbar_center": [],  # all pages, by kind, are in the sidebar
    "globaltoc_includehidden": True,
    "globaltoc_maxdepth": "1",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"**": ["globaltoc"], "index": []}

llms_txt_title = "gradsift"
llms_txt_summary = (
    "Which variables of a wide table matter, which directions explain the response, and how does "
    "it change at a given sample? scikit-learn estimators, a command line and a report."
)
llms_txt_full_file = True
llms_txt_exclude = ["docs/api/generated/*"]  # directives only: the text is in the docstrings


EXAMPLE = re.compile(r"examples/(plot_\w+)\.py(?=\))")


def link_to_the_gallery(app, docname, source):
    """Links to example scripts, right on a code host, lead to their pages here."""
    text = source[0].replace("examples/README.rst)", "docs/gallery/index.rst)")
    source[0] = EXAMPLE.sub(r"docs/gallery/\1.rst", text)


ROLE = re.compile(r":(?:ref|term|class|func|meth):`~?([^`<]+?)\s*(?:<[^>]*>)?`")
MATH = re.compile(r":math:`([^`]+)`")  # R^2 in scikit-learn's text; MathJax is on another site
SIZE = re.compile(r"(?<![`\w])(n_\w+)_(?=[,)])")


def plain_docstring(app, what, name, obj, options, lines):
    """Docstrings without links into the pages of scikit-learn and without formulas, and with sizes
    such as (n_components_, p) taken for what they are.
    """
    for k, line in enumerate(lines):
        plain = MATH.sub(lambda found: f"`{found[1]}`", ROLE.sub(r"\1", line))
        lines[k] = SIZE.sub(r"\1\_", plain).replace(r"\frac{u}{v}", "u / v")


REFERENCES = dict(
    re.findall(
        r"^\(([\w-]+)\)=\n\*\*(.+?)\*\*", (ROOT / "docs" / "references.md").read_text(), re.M
    )
)


class Cite(XRefRole):
    """:cite:`ye-2012` in a docstring: authors and year, with a link to docs/references.md."""

    def process_link(self, env, refnode, has_explicit_title, title, target):
        refnode["refdomain"], refnode["reftype"], refnode["refexplicit"] = "std", "ref", True
        return REFERENCES[target], target


def setup(app):
    app.add_role("cite", Cite(innernodeclass=nodes.inline, warn_dangling=True))
    app.connect("source-read", link_to_the_gallery)
    app.connect("autodoc-process-docstring", plain_docstring, priority=400)  # before numpydoc
    return {"parallel_read_safe": True}
