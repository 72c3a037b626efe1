"""What all displays have in common: they hold what is to be seen, and draw it on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradsift.displays import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Display:
    """A picture: its fields are what it shows, `plot` draws it.

    Attributes
    ----------
    ax_, figure_ : the matplotlib axes and figure
    hover_ : list of (artist, names)
        What a page shows when the mouse is over a mark.
    """

    ax_: Any
    figure_: Any
    hover_: style.Hover

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            None = new ones.

        Returns
        -------
        display : Display
            Itself.
        """
        self.figure_, self.ax_ = style.start(ax, self._size)
        self.hover_ = []
        self._draw(self.ax_)
        return self

    @property
    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        raise NotImplementedError

    def _draw(self, ax: Axes) -> None:
        """Draw on these axes, and fill `hover_`."""
        raise NotImplementedError
