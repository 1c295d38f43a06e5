"""`python -m discotext` is the command `discotext`."""

from discotext.cli import main

main()
