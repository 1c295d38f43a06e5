"""The incumbent beside us: TextAttack and our solvers on the same victim, texts, candidates and budget.

    python -m benchmarks.peers.environment .venv-peers    a virtual environment for TextAttack alone
    python -m benchmarks.peers                            run or resume every cell; what is done is not done again
    python -m benchmarks.peers.report                     verify all records; write rows, table and pictures

What is made equal, and how:

    words        TextAttack splits texts its own way, so it never sees one. Each text is shown to it as a row of made-up
                 words, one for each of ours (`coding`); what its victim is asked about is our string, made from them.
    candidates   its `WordSwap` offers exactly the options of our `Space`, and words without any are told to it as such.
    budget       a constraint of its own holds our m for each text, counted word by word.
    victim       the same folder, loaded by the same code, in TextAttack's own environment (`driver`).
    texts        the same in the same run: every chunk goes through all searches, theirs and ours in turn.
    time         the same number of threads; turning made-up words into strings is not charged to TextAttack.
    truth        `verify`, which shares no code with either search, reads every returned string and asks a victim
                 that was loaded anew.

TextAttack stops at the first success; ours also takes back what is not needed. Both are reported as they are.
"""
