"""Acts when a package is first imported, so that a program that uses one language pays for no other's start."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


@contextmanager
def on_import(actions: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Inside the block, call a package's action once it is imported; at once if it is there already.

    Args:
        actions: by the package's name.

    >>> with on_import({"this_is_not_there": lambda: print("never")}):
    ...     pass
    """
    waiting = {name: action for name, action in actions.items() if name not in sys.modules}
    finder = _Finder(waiting)
    sys.meta_path.insert(0, finder)
    try:
        for name in actions.keys() - waiting.keys():
            actions[name]()
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def standing_in(modules: Mapping[str, Callable[[], ModuleType]], user: str) -> Iterator[None]:
    """Inside the block, an import of one of these modules gives what stands in for it, whether it is installed or not.

    Args:
        modules: what makes each, by name.
        user: a package that needs the real ones: once its import has begun, there is nothing in their place.

    >>> with standing_in({"not_there": lambda: ModuleType("not_there", "a stand-in")}, user="nobody"):
    ...     import not_there
    >>> not_there.__doc__
    'a stand-in'
    """
    before = {name: sys.modules.pop(name) for name in modules if name in sys.modules}
    finder = _StandIns(modules, user)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in modules:
            sys.modules.pop(name, None)
        sys.modules.update(before)


class _StandIns(MetaPathFinder, Loader):
    def __init__(self, modules: Mapping[str, Callable[[], ModuleType]], user: str) -> None:
        self._modules, self._user = modules, user

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._modules or self._user in sys.modules:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules[spec.name]()

    def exec_module(self, module: ModuleType) -> None:
        """It is whole already."""


class _Finder(MetaPathFinder):
    """Finds what the others find, and has the loader tell when it is done; who only asks where it is starts nothing."""

    def __init__(self, waiting: dict[str, Callable[[], None]]) -> None:
        self._waiting = waiting
        self._asked: set[str] = set()  # of the others, now

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._waiting or name in self._asked:
            return None
        self._asked.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asked.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, lambda: self._waiting.pop(name)())
        return spec


class _Telling(Loader):
    def __init__(self, loader: Loader, action: Callable[[], None]) -> None:
        self._loader, self._action = loader, action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader  # what reads a package's data asks its own loader
        self._loader.exec_module(module)
        self._action()
