"""The code of the recipes in CONTRIBUTING.md, as modules."""

import re
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

ROOT = Path(__file__).parents[1]


def recipe(title):
    """A module made of the code below a heading of CONTRIBUTING.md."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^### {title}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^ *```python\n(.*?)^ *```", section, re.MULTILINE | re.DOTALL)
    module = ModuleType(title.split()[-1])
    sys.modules[module.__name__] = module  # where dataclasses look for it
    exec(compile("\n".join(map(dedent, blocks)), f"recipe of {title}", "exec"), vars(module))
    del sys.modules[module.__name__]
    return module
