"""TextAttack and the solvers of this package on the same victim, texts, candidates and budget.

    python -m benchmarks.peers.environment .venv-peers    create a virtual environment for TextAttack
    python -m benchmarks.peers                            run or resume every cell
    python -m benchmarks.peers.report                     verify all records; write rows, tables and plots

How the comparison is kept fair:

    words        TextAttack splits texts in its own way, so it never sees the text itself. It gets a sequence of tokens,
                 one per word of ours (`coding`), and its victim scores our string, decoded from them.
    candidates   its `WordSwap` offers exactly the options of our `Space`; words without options are marked as fixed.
    budget       a constraint enforces our m for each text, counted word by word.
    victim       the same folder, loaded by the same code, in TextAttack's own environment (`driver`).
    texts        the same in the same run: every chunk goes through all searches, alternating between both packages.
    time         the same number of threads; decoding tokens is not counted for TextAttack.
    truth        `verify`, which shares no code with either search, reads every returned string and queries a freshly
                 loaded victim.

TextAttack stops at the first success; our solvers also prune changes that are not needed. Both are reported as they
are.
"""
