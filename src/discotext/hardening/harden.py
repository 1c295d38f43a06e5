"""harden(): train a model by several recipes, choose on held-out texts the most robust one, and test it once."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discotext.attacks.attack import attack, certify
from discotext.attacks.result import Result
from discotext.core.objectives import predictions
from discotext.data.columns import AnyColumns, Columns
from discotext.data.examples import Examples
from discotext.data.registry import has_name, load_splits
from discotext.hardening.matrix import OWN, Pair, fill, list_cells, pick_solver, survives
from discotext.hardening.outcome import Hardening, Trial
from discotext.hardening.page import make_hardening_page
from discotext.hardening.recipe import PLAIN, Recipe
from discotext.hardening.trainers import Report, Trainer, Training, make_trainer
from discotext.runs.summary import Estimate, estimate_share
from discotext.support.files import write_atomically
from discotext.support.progress import Progress
from discotext.text.candidates import Candidates
from discotext.text.words import compute_budget
from discotext.victims.encoded import MERGED, Encoded
from discotext.victims.examples import check_classes
from discotext.victims.folder import read_settings
from discotext.victims.registry import load_victim
from discotext.victims.victim import Victim, compute_scores

HELD_OUT = 0.1  # of the training texts
FEWEST = 40  # texts that are worth splitting into training and held-out ones
OVERLAP = 0.5  # of the test texts that may be training texts, too
SETTINGS, OUTCOME, WORK, PLAIN_FOLDER = "hardening_settings.json", "hardening.json", "work", "plain"
TRIAL, CHOSEN = "trial.json", "chosen.json"


@dataclass(frozen=True)
class Budgets:
    """How much may change and how much is measured.

    share: the share of the words that may change. passes: what the proof of a text may take.
    held_out: how many texts are attacked to choose a recipe. test: how many texts are attacked in the end.
    """

    share: float = 0.2
    passes: int = 200
    held_out: int = 300
    test: int = 500


def harden(
    data: Any,
    model: Any = "lstm",
    *,
    recipes: str | Sequence[str] = "auto",
    max_loss: float = 2.0,
    test: Any = None,
    candidates: Candidates | None = None,
    others: Mapping[str, Candidates] | None = None,
    budgets: Budgets = Budgets(),  # noqa: B008 (frozen)
    epochs: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    columns: AnyColumns = (None, None),
    out: str | Path | None = None,
    progress: Report | bool = True,
    trust: bool = False,
) -> Hardening:
    """Train a classifier that is robust when words are exchanged.

    data: labelled texts to train on, as for `attack`; of a named data set, the training split.
    model: "lstm", "wcnn", "dan", "rnn" or "tfidf"; "hf:FOLDER", a fine-tuned classifier; a scikit-learn pipeline,
        fitted or not; or any other victim, which is not trained, but gets a reader of synonyms.
    recipes: "auto", or names such as "merged:0.2+adversarial" (see `discotext.hardening.recipe`).
    max_loss: points of accuracy on held-out texts that a recipe may lose; of those that lose no more, the one with the
        highest accuracy under attack is chosen.
    test: texts to measure on, once, in the end [default: the test split of a data set, or a fifth of the data].
    candidates: what words may be exchanged for [default: those of `attack`].
    others: more candidates to attack the hardened model with, by name.
    budgets: how many words may change, and how many texts are attacked.
    epochs: of training, at most. limit: train on a stratified sample of so many texts. columns: of texts and labels.
    out: a folder for the hardened victim and its records; the same call resumes where it stopped.
    progress: show a bar in a terminal or a notebook; or a function, which is called with an activity and the share of
        it that is done.
    trust: allow pickled scikit-learn files, which can execute code when they are loaded.
    """
    compute_budget(1, budgets.share)
    if not 0 <= max_loss <= 100:
        raise ValueError(f"max_loss is {max_loss}; choose points of accuracy, from 0 to 100")
    trainer = make_trainer(model, epochs, trust)
    wanted = _parse_recipes(recipes, trainer)
    given, how = trainer.given, columns if isinstance(columns, Columns) else Columns(*columns)
    texts, testing = load_splits(data, test, how, seed, None if given is None else given.labels)
    if given is not None:
        for one in (texts, testing):
            check_classes(given, one, how.rename)
        if test is None and not (isinstance(data, str | Path) and has_name(data)):
            warnings.warn(
                f"a fifth of the texts is kept to test on; if {given.name} was trained on them, the figures flatter "
                "it: give texts that it has not seen (--test)",
                stacklevel=2,
            )
    texts = texts if limit is None else texts.sample(limit, seed)
    check_splits(texts, testing)
    kept, held = texts.split(HELD_OUT, seed)
    with tempfile.TemporaryDirectory() as temporary, Progress(wanted=progress is True) as bar:
        report = progress if callable(progress) else bar.update_stage
        training = Training(kept, candidates or Candidates(), budgets.share, seed, report)
        folder = Path(temporary if out is None else out)
        work = _Hardening(trainer, wanted, training, held, testing, dict(others or {}), budgets, max_loss, folder)
        return work.run(texts)


def _parse_recipes(recipes: str | Sequence[str], trainer: Trainer) -> list[Recipe]:
    """The recipes to try, plain first."""
    given = [recipes] if isinstance(recipes, str) else list(recipes)
    found = [Recipe.parse(name) for one in given for name in (trainer.auto if one == "auto" else (one,))]
    for one in found:
        trainer.check(one)
    return list(dict.fromkeys([PLAIN, *found]))


def check_splits(training: Examples, testing: Examples) -> None:
    """Raise ValueError for texts that nothing can be learnt from, or that would flatter."""
    if len(training) < FEWEST:
        raise ValueError(f"there are {len(training)} training texts; give {FEWEST} or more, for some are held out")
    counts = dict(zip(training.names, training.counts.tolist(), strict=True))
    if len(counts) < 2 or not all(counts.values()):
        raise ValueError(f"the classes have {counts} training texts; give texts of two or more, or raise --limit")
    known = set(training.texts)
    share = sum(text in known for text in testing.texts) / len(testing)
    if share > OVERLAP:
        raise ValueError(
            f"{100 * share:.0f} % of the test texts are training texts; test on texts that the model has not seen, or "
            "leave the test data out, and a fifth of the texts is kept for it"
        )
    if share > 0.01:
        warnings.warn(f"{100 * share:.1f} % of the test texts are training texts, too", stacklevel=3)


@dataclass(frozen=True, eq=False)
class _Hardening:
    """One hardening. Every recipe has a folder for its victim and its attack, so that nothing is done twice.

    held: texts on which a recipe is chosen. made: the victims that were trained in this process, by recipe: one may
    have parts that cannot be loaded again without trust.
    """

    trainer: Trainer
    recipes: list[Recipe]
    training: Training
    held: Examples
    testing: Examples
    others: dict[str, Candidates]
    budgets: Budgets
    max_loss: float
    folder: Path
    made: dict[str, Victim] = field(default_factory=dict)

    def run(self, texts: Examples) -> Hardening:
        """texts: all that were given to train on."""
        self._claim_folder(texts)
        trials = {}
        for number, recipe in enumerate(self.recipes, start=1):
            self.training.title = f"{number}/{len(self.recipes)} {recipe}: "
            trials[str(recipe)] = self._try(recipe)
        self.training.title = ""
        chosen = Recipe.parse(choose(trials, self.max_loss))
        plain, hardened = self._find(PLAIN), self._find(chosen)
        self._forget_others(str(chosen))
        outcome = self._test(plain, hardened, chosen, trials)
        self._keep(outcome)
        return outcome

    def _claim_folder(self, texts: Examples) -> None:
        """Write the settings down, or raise ValueError if the folder has others, or holds something else."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # One that was killed as it began may have left half of its settings.
        there = {file.name for file in self.folder.iterdir()} - {f"{SETTINGS}.new"}
        if there and SETTINGS not in there:
            raise ValueError(f"{self.folder} is not empty and holds no hardening; choose another folder")
        content = "\0".join((*texts.texts, *map(str, texts.labels.tolist())))
        settings = {
            **self.trainer.settings(texts),
            "texts": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16],
            "candidates": self.training.candidates.settings,
            "share": self.budgets.share,
            "held_out": self.budgets.held_out,
            "seed": self.training.seed,
        }
        path = self.folder / SETTINGS
        if not path.exists():
            write_atomically(path, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
        elif _read_json(path) != json.loads(json.dumps(settings)):
            raise ValueError(f"{self.folder} has a hardening with other settings; choose another folder")

    def _place(self, recipe: Recipe) -> Path:
        return self.folder / WORK / str(recipe).replace(":", "-")

    @cached_property
    def _seconds_of_exchanges(self) -> float:
        """How long it takes to find exchanges: it counts for every recipe that merges, not only the first."""
        began = time.perf_counter()
        _ = self.training.exchanges
        return time.perf_counter() - began

    def _try(self, recipe: Recipe) -> Trial:
        """Train by a recipe and attack held-out texts, unless that was done before."""
        place = self._place(recipe)
        if (place / TRIAL).exists():
            return Trial(**_read_json(place / TRIAL))
        seconds = 0.0 if recipe.merged is None else self._seconds_of_exchanges
        began = time.perf_counter()
        victim = self.made[str(recipe)] = self.trainer.train(recipe, self.training)
        seconds += time.perf_counter() - began
        place.mkdir(parents=True, exist_ok=True)
        if self._is_trained(victim):
            victim.save(place / "victim", {"recipe": str(recipe)})
        self.training.report("attacking held-out texts", 0.0)
        records = self._measure(attack, victim, self.held, limit=self.budgets.held_out).records
        attacked = float(np.mean([survives(record) for record in records]))
        trial = Trial(float(measure_clean(victim, self.held)), attacked, round(seconds, 2), len(records))
        write_atomically(place / TRIAL, json.dumps(asdict(trial)) + "\n")
        return trial

    def _is_trained(self, victim: Victim) -> bool:
        """Whether a victim was made here, and is not the one that the user holds, with or without merged words."""
        inner = victim.victim if isinstance(victim, Encoded) else victim
        return self.trainer.given is None or all(one is not self.trainer.given for one in (victim, inner))

    def _measure(self, how: Callable[..., Result], victim: Victim, examples: Examples, **more: Any) -> Result:
        """how: `attack` or `certify`."""
        asked = {"budget": self.budgets.share, "candidates": self.training.candidates, "seed": self.training.seed}
        return how(victim, examples, pick_solver(victim), progress=False, **asked, **more)

    def _find(self, recipe: Recipe) -> Victim:
        """The victim of a recipe: where a trial left it, or a hardening that was finished; else it is made again."""
        if str(recipe) in self.made:
            return self.made[str(recipe)]
        for place in (self._place(recipe) / "victim", self.folder / PLAIN_FOLDER, self.folder):
            if (place / "settings.json").exists() and read_settings(place).get("recipe") == str(recipe):
                return load_victim(place)
        return self.trainer.train(recipe, self.training)

    def _forget_others(self, chosen: str) -> None:
        """Remove what a hardening that ended differently, or not at all, has left of another recipe."""
        path = self.folder / WORK / CHOSEN
        if path.exists() and _read_json(path).get("chosen") != chosen:
            shutil.rmtree(self.folder / "after", ignore_errors=True)
            (self.folder / MERGED).unlink(missing_ok=True)
        write_atomically(path, json.dumps({"chosen": chosen}) + "\n")

    def _test(self, plain: Victim, hardened: Victim, chosen: Recipe, trials: Mapping[str, Trial]) -> Hardening:
        """Measure both models on the test texts: the only time that these are touched."""
        report, seed = self.training.report, self.training.seed
        report("testing", 0.0)
        clean = measure_clean(plain, self.testing), measure_clean(hardened, self.testing)
        some = self.testing.sample(self.budgets.test, seed)
        runs: list[Result] = []
        for name, victim, recipe in (("before", plain, PLAIN), ("after", hardened, chosen)):
            if victim is not self.trainer.given:
                victim.name = f"{self.trainer.name}, {recipe}"
            report(f"attacking and proving: {name}", 0.5 * len(runs))
            runs.append(self._measure(certify, victim, some, passes=self.budgets.passes, out=self.folder / name))
        matrix = {OWN: Pair.of(runs[0].records, runs[1].records)}
        if chosen != PLAIN:
            cells = list(list_cells(hardened, self.training.candidates, self.budgets.share, self.others))
            matrix |= fill(cells, plain, hardened, some, seed, report)
        return Hardening(
            victim=hardened,
            plain=plain,
            chosen=str(chosen),
            trials=dict(trials),
            max_loss=self.max_loss,
            share=self.budgets.share,
            model=self.trainer.name,
            data=self.training.examples.source,
            seed=seed,
            clean=clean,
            matrix=matrix,
            trained=self._is_trained(hardened),
            runs=(runs[0], runs[1]),
        )

    def _keep(self, outcome: Hardening) -> None:
        """Leave the hardened victim, the plain one and the figures in the folder; what only served to choose goes."""
        self.training.report("saving", 0.9)
        if outcome.trained:
            outcome.victim.save(self.folder, {"recipe": outcome.chosen, "hardening": outcome.as_dict()})
        elif isinstance(outcome.victim, Encoded):
            # The model is not ours to save; its merged words are, to be put in front of it again.
            write_atomically(self.folder / MERGED, outcome.victim.merged.to_json())
        if self._is_trained(outcome.plain):
            outcome.plain.save(self.folder / PLAIN_FOLDER, {"recipe": str(PLAIN)})
        write_atomically(self.folder / OUTCOME, json.dumps(outcome.as_dict(), indent=2, ensure_ascii=False) + "\n")
        write_atomically(self.folder / "report.html", make_hardening_page(outcome))
        for place in (self.folder / WORK).glob("*/victim"):
            (place / "settings.json").unlink(missing_ok=True)  # first, for without them it is no victim (see `_find`)
            shutil.rmtree(place, ignore_errors=True)


def measure_clean(victim: Victim, examples: Examples) -> Estimate:
    """The accuracy without an attack."""
    found = estimate_share(predictions(compute_scores(victim, examples.texts)) == examples.labels)
    assert found is not None  # there are texts
    return found


def _read_json(path: Path) -> dict[str, Any]:
    """What one of our own files says; a ValueError names a damaged one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged; choose another folder")
    return found


def choose(trials: Mapping[str, Trial], max_loss: float) -> str:
    """The recipe with the highest accuracy under attack among those that lose few points; the first of equal ones.

    >>> trials = {"plain": Trial(0.90, 0.3, 1, 9), "a": Trial(0.89, 0.6, 1, 9), "b": Trial(0.80, 0.7, 1, 9)}
    >>> choose(trials, 2), choose(trials, 0), choose(trials, 20)
    ('a', 'plain', 'b')
    """
    least = trials["plain"].clean - max_loss / 100 - 1e-9
    within = [name for name, trial in trials.items() if trial.clean >= least]
    return max(within, key=lambda name: trials[name].attacked)
