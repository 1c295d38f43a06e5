"""The files that come with the package; docs/reference/packaged-data.md names their sources and licences."""

from __future__ import annotations

from importlib import resources
from typing import Any

from numpy.typing import NDArray


def read_resource(name: str) -> bytes:
    """The content of a file."""
    return resources.files(__name__).joinpath(name).read_bytes()


def read_arrays(name: str) -> dict[str, NDArray[Any]]:
    """The arrays of a .safetensors file."""
    from safetensors.numpy import load

    return dict(load(read_resource(name)))
