"""Decoding: the best word at each position of a text, under language models and a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discotext.support.lazy import lazy_names

if TYPE_CHECKING:
    from discotext.decoding.corrector import Corrected as Corrected
    from discotext.decoding.corrector import Corrector as Corrector
    from discotext.decoding.decode import Decoded as Decoded
    from discotext.decoding.decode import Decoder as Decoder
    from discotext.decoding.metrics import ErrorCounts as ErrorCounts
    from discotext.decoding.metrics import ErrorRates as ErrorRates
    from discotext.decoding.network import Alternative as Alternative
    from discotext.decoding.network import Network as Network
    from discotext.decoding.network import NetworkError as NetworkError
    from discotext.decoding.network import make_batch as make_batch
    from discotext.decoding.oracle import make_oracle as make_oracle
    from discotext.decoding.paths import PrefixBeam as PrefixBeam
    from discotext.decoding.paths import Viterbi as Viterbi
    from discotext.decoding.reading import read_networks as read_networks
    from discotext.decoding.reading import rescore_list as rescore_list

_HOMES = {
    "corrector": ["Corrected", "Corrector"],
    "decode": ["Decoded", "Decoder"],
    "metrics": ["ErrorCounts", "ErrorRates"],
    "network": ["Alternative", "Network", "NetworkError", "make_batch"],
    "oracle": ["make_oracle"],
    "paths": ["PrefixBeam", "Viterbi"],
    "reading": ["read_networks", "rescore_list"],
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
