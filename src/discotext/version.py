"""The version, and whether pip knows any: in one place."""

__version__ = "0.3.0.dev0"
RELEASED = False  # True from the first release on: only then can pip install discotext by its name
