"""Fits: the prior of pairs, the networks of the scorers, and their calibration."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

SEEDS, HIDDEN, EPOCHS, BATCH = 5, 64, 6, 512
COINCO = 0.15  # weight of a swap of CoInCo beside one of SWORDS
BOOSTING = {
    "objective": "cross_entropy", "learning_rate": 0.06, "num_leaves": 31, "min_data_in_leaf": 100,
    "feature_fraction": 0.6, "bagging_fraction": 0.7, "bagging_freq": 1, "lambda_l2": 5, "verbose": -1, "seed": 0,
}  # fmt: skip


def fit_prior(rows: np.ndarray, labels: np.ndarray, judged: np.ndarray, rounds: int = 250) -> lightgbm.Booster:
    """Pairs to the probability that a swap is accepted, whatever the sentence. Three in ten of what nobody proposed in
    CoInCo are used, at more weight."""
    known = ~np.isnan(labels)
    unproposed = known & ~judged & (labels < 0.03)
    kept = known & (~unproposed | (np.random.default_rng(9).random(len(labels)) < 0.3))
    weights = np.where(judged, 1.0, np.where(unproposed, 1.0, 0.3))
    data = lightgbm.Dataset(rows[kept], labels[kept], weight=weights[kept])
    return lightgbm.train(BOOSTING, data, rounds)


def fit_network(
    features: np.ndarray, labels: np.ndarray, weights: np.ndarray, rows: np.ndarray, seed: int
) -> tuple[nn.Sequential, np.ndarray, np.ndarray]:
    """One network with one hidden layer; returns it with the mean and scale of the features."""
    torch.manual_seed(seed)
    mean, scale = features[rows].mean(axis=0), features[rows].std(axis=0) + 1e-3
    inputs = torch.from_numpy(np.clip((features - mean) / scale, -6, 6).astype(np.float32))
    wanted, weight = (torch.from_numpy(np.nan_to_num(one).astype(np.float32)) for one in (labels, weights))
    network = nn.Sequential(
        nn.Dropout(0.1), nn.Linear(features.shape[1], HIDDEN), nn.ReLU(), nn.Dropout(0.1), nn.Linear(HIDDEN, 1)
    )
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=1e-3)
    index = torch.from_numpy(rows)
    steps = EPOCHS * ((len(rows) + BATCH - 1) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    for _ in range(EPOCHS):
        for batch in index[torch.randperm(len(index))].split(BATCH):
            found = network(inputs[batch]).squeeze(1)
            loss = nn.functional.binary_cross_entropy_with_logits(found, wanted[batch], weight=weight[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return network.eval(), mean, scale


def predict(network: nn.Sequential, mean: np.ndarray, scale: np.ndarray, features: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        inputs = torch.from_numpy(np.clip((features - mean) / scale, -6, 6).astype(np.float32))
        return network(inputs).squeeze(1).numpy()


def out_of_fold(
    features: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    used: np.ndarray,
    folds: np.ndarray,
    wanted: np.ndarray,
) -> np.ndarray:
    """(S,) log-odds of the swaps that are wanted, by networks that saw nothing of their documents."""
    found = np.zeros(len(features))
    for fold in np.unique(folds[wanted]):
        inside = np.flatnonzero(wanted & (folds == fold))
        for seed in range(SEEDS):
            parts = fit_network(features, labels, weights, np.flatnonzero(used & (folds != fold)), seed)
            found[inside] += predict(*parts, features[inside]) / SEEDS
    return found


def calibrate(logits: np.ndarray, accepted: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """Slope and shift that make log-odds calibrated on some swaps."""
    fitted = LogisticRegression(C=1e3).fit(logits[rows][:, None], accepted[rows])
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def find_least_priors(priors: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(101,) the prior that almost all swaps with a probability of 0, 0.01, … have at least."""
    found = np.full(101, np.nan)
    for level in range(101):
        inside = chances >= level / 100
        if inside.sum() > 20:
            found[level] = np.quantile(priors[inside], 0.002) - 0.8  # a margin for words that were not judged
    known = ~np.isnan(found)
    found[~known] = found[known][-1]
    found = np.minimum.accumulate(found[::-1])[::-1]
    found[0] = -6
    return found


def pack(
    name: str, features: np.ndarray, labels: np.ndarray, weights: np.ndarray, used: np.ndarray, **more: Any
) -> dict[str, np.ndarray]:
    """Networks fitted to everything, as arrays."""
    networks = [fit_network(features, labels, weights, np.flatnonzero(used), seed) for seed in range(SEEDS)]
    layers = [(network[1], network[4]) for network, _, _ in networks]
    arrays = {
        "mean": networks[0][1],
        "scale": networks[0][2],
        "inner": np.stack([inner.weight.detach().numpy().T for inner, _ in layers]),
        "inner_bias": np.stack([inner.bias.detach().numpy() for inner, _ in layers]),
        "outer": np.stack([outer.weight.detach().numpy()[0] for _, outer in layers]),
        "outer_bias": np.array([outer.bias.detach().numpy()[0] for _, outer in layers]),
        **more,
    }
    return {f"{name}.{key}": np.ascontiguousarray(value, dtype=np.float32) for key, value in arrays.items()}
