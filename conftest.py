"""What pytest collects: modules that cannot be imported without PyTorch are left out where it is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/discotext/victims/neural/*.py"]
