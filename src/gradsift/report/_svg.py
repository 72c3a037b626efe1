"""A matplotlib figure as inline SVG: small, with hover names, in the colours of the page."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree as ET

from gradsift.explain.displays import style

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"

# what the page's light and dark themes set
THEME = {
    style.INK: "var(--ink)",
    style.MUTED: "var(--muted)",
    style.FAINT: "var(--faint)",
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
}


def inline_svg(figure: Any, hover: style.Hover, prefix: str, title: str) -> str:
    """The figure as an `svg` element for an HTML page.

    Parameters
    ----------
    figure : matplotlib figure
    hover : list of (artist, names)
    prefix : str
        Put before every id, so that several figures can share a page.
    title : str
        For those who cannot see it.
    """
    for k, (artist, _) in enumerate(hover):
        artist.set_gid(f"hover{k}")
    root = ET.fromstring(drawn(figure))
    parents = {id(child): parent for parent in root.iter() for child in parent}
    for unwanted in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
        for element in list(root.iter(unwanted)):
            parents[id(element)].remove(element)
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
    for k, (_, names) in enumerate(hover):
        if f"hover{k}" in by_id:
            _add_titles(by_id[f"hover{k}"], names)
    for element in root.iter():
        _adapt(element, prefix)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", style.readable(title))
    return _to_html(root)


def drawn(figure: Any) -> bytes:
    """The figure as matplotlib writes it, with a transparent ground.

    `figure.savefig` would draw it twice, the first time to lay it out; drawing lays it out as well.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    for patch in (figure.patch, *(ax.patch for ax in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    out = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "gradsift"}):
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})
    return out.getvalue()


def _add_titles(group: Any, names: list[str]) -> None:
    """A title for the whole group, or one for each of its marks."""
    if len(names) == 1:
        marks = [group]
    else:
        hidden = {id(e) for defs in group.iter(f"{{{SVG}}}defs") for e in defs.iter()}
        kinds = (f"{{{SVG}}}use", f"{{{SVG}}}path")
        marks = [e for e in group.iter() if e.tag in kinds and id(e) not in hidden]
    if len(marks) != len(names):
        return  # marks outside the axes are not drawn, and a wrong name is worse than none
    for mark, name in zip(marks, names):
        title = ET.Element(f"{{{SVG}}}title")
        title.text = style.readable(name)
        mark.insert(0, title)


def _adapt(element: Any, prefix: str) -> None:
    """Ids of its own, links without a namespace, colours and fonts from the page."""
    link = element.attrib.pop(f"{{{XLINK}}}href", None)
    if link is not None:
        element.set("href", link)
    if "id" in element.attrib:
        element.set("id", prefix + element.attrib["id"])
    if element.get("href", "").startswith("#"):
        element.set("href", f"#{prefix}{element.attrib['href'][1:]}")
    if "clip-path" in element.attrib:
        element.set("clip-path", element.attrib["clip-path"].replace("url(#", f"url(#{prefix}"))
    css = element.get("style")
    if css is None:
        return
    for colour, variable in THEME.items():
        css = css.replace(colour, variable)
    # 'font: italic 9px sans' keeps its slant and size, and takes the page's family
    css = re.sub(r"font: (italic )?[^;]*?([\d.]+px)[^;]*", _font, css)
    element.set("style", css.replace(": ", ":").replace("; ", ";"))


def _font(found: re.Match[str]) -> str:
    slant = "font-style: italic; " if found[1] else ""
    return f"{slant}font-size: {found[2]}"


def _to_html(root: Any) -> str:
    """Without namespaces: HTML knows what is inside an svg element."""
    for element in root.iter():
        element.tag = element.tag.split("}")[-1]
        for key in [k for k in element.attrib if k.startswith("{")]:
            del element.attrib[key]
    return re.sub(r">\s+<", "><", ET.tostring(root, encoding="unicode"))
