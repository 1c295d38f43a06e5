"""Write the ratings of words that the filter `polarity` uses, from the lexicon of VADER.

    pip download --no-deps vaderSentiment, and unpack the wheel
    python -m scripts.build_polarity vader_lexicon.txt

Each word of that lexicon was rated by ten people, from −4 (extremely negative) to 4 (extremely positive); we keep the
mean of the words that consist of letters alone, with the licence.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "discotext" / "text" / "resources" / "polarity.txt.gz"


def main() -> None:
    ratings = {}
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        word, mean, *_ = line.split("\t")
        if word.isalpha() and word.islower() and word.isascii():
            ratings[word] = float(mean)
    content = "".join(f"{word} {mean:g}\n" for word, mean in sorted(ratings.items()))
    TARGET.write_bytes(gzip.compress(content.encode("ascii"), 9, mtime=0))
    print(f"{len(ratings)} words, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
