"""scikit-learn's callbacks (`set_callbacks(ProgressBar())`), where it has them: from 1.9 on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: F) -> F:
        """The method as it is."""
        return method


class Task:
    """A part of a fit, as callbacks see it; silent where scikit-learn has no callbacks."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context = estimator, context

    @contextmanager
    def part(self, name: str, parts: int = 0) -> Iterator[Task]:
        """A task inside this one, with so many parts of its own."""
        if self.context is None:
            yield self
            return
        inside = self.context.subcontext(task_name=name, max_subtasks=parts)
        with _between_hooks(self.estimator, inside) as task:
            yield task

    @contextmanager
    def loop(self, name: str, count: int) -> Iterator[Callable[[], None]]:
        """`count` parts that follow one another; what is yielded is called after each."""
        left, now = count, None

        def step() -> None:
            nonlocal left, now
            if now is not None:
                now.call_on_fit_task_end(estimator=self.estimator)
                now = None
            if self.context is not None and left > 0:
                inside = self.context.subcontext(task_name=name)
                left, now = left - 1, inside.call_on_fit_task_begin(estimator=self.estimator)

        step()
        yield step
        left = 0  # a loop that was over before its time ends the part it began
        step()


@contextmanager
def fit_task(estimator: Any, parts: int) -> Iterator[Task]:
    """The whole fit as a task; the method around it is decorated `with_callbacks`."""
    # the method scikit-learn documents for estimators of other packages
    init = getattr(estimator, "_init_callback_context", None)
    if init is None:
        yield Task(estimator, None)
        return
    with _between_hooks(estimator, init(max_subtasks=parts)) as task:
        yield task


@contextmanager
def _between_hooks(estimator: Any, context: Any) -> Iterator[Task]:
    context.call_on_fit_task_begin(estimator=estimator)
    yield Task(estimator, context)
    context.call_on_fit_task_end(estimator=estimator)
