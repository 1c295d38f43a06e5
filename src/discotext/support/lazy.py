"""Public names of a package that are imported on first use, so that importing the package is cheap."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discotext.support.extras import explain_install


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]], elsewhere: Sequence[str] = (), needs_torch: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package.

    homes: the package's modules, each with the public names that it defines.
    elsewhere: packages inside this one, imported on first use, whose public names are pointed out to a user who looks
        for them here.
    needs_torch: names that cannot be imported without PyTorch; where it is missing, `import *` leaves them out.

    >>> load, names, public = lazy_names("discotext.support", {"intervals": ["wilson"]})
    >>> names(), load("wilson").__name__
    (['wilson'], 'wilson')
    """
    module_of = {name: module for module, names in homes.items() for name in names}
    missing = set(needs_torch) if importlib.util.find_spec("torch") is None else set()
    public = sorted(set(module_of) - missing)

    def load(name: str) -> Any:
        if f"{package}.{name}" in elsewhere:  # `import discotext` is enough for discotext.victims.HttpVictim
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            # Tools ask for private names all the time; nobody looks for those elsewhere.
            places = () if name.startswith("_") else elsewhere
            found = (place for place in places if name in importlib.import_module(place).__all__)
            hint = "".join(f"; it is in {place}" for place in list(found)[:1])
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        try:
            value = getattr(importlib.import_module(f"{package}.{module_of[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise ImportError(f"{name} needs torch, which is not installed; run {explain_install('torch')}") from None
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: public, public
