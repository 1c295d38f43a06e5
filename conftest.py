"""What pytest collects: modules that need an optional package are left out where it is not installed."""

from importlib.util import find_spec

collect_ignore_glob = []
if not find_spec("torch"):
    collect_ignore_glob += ["src/discotext/victims/neural/*.py"]
if not find_spec("sklearn"):
    collect_ignore_glob += ["tests/victims/sklearn/test_bound.py"]
if not find_spec("starlette") or not find_spec("uvicorn"):
    collect_ignore_glob += ["src/discotext/web/*.py"]
