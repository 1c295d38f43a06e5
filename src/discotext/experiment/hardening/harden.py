"""harden(): train a model by several recipes, choose on held-out texts the one that holds, and test it once."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discotext.core.objectives import predictions
from discotext.data.catalogue import Split
from discotext.data.columns import AnyColumns, Columns
from discotext.data.examples import Examples, make_examples
from discotext.data.registry import has_split, load_data
from discotext.experiment.attack import attack
from discotext.experiment.certify import certify
from discotext.experiment.hardening.matrix import OWN, Pair, choose_solver, fill, holds, list_cells
from discotext.experiment.hardening.outcome import Hardening, Trial
from discotext.experiment.hardening.page import make_hardening_page
from discotext.experiment.hardening.recipe import PLAIN, Recipe
from discotext.experiment.hardening.task import Progress, Task, Trainer
from discotext.experiment.hardening.trainers import make_trainer
from discotext.experiment.result import Result
from discotext.experiment.summary import Estimate, estimate_share
from discotext.support.files import write_atomically
from discotext.support.keywords import suggest_keywords
from discotext.support.progress import StageProgress, make_bar
from discotext.text.candidates import Candidates
from discotext.text.words import compute_budget
from discotext.victims.encoded import MERGED, Encoded
from discotext.victims.folder import read_settings
from discotext.victims.registry import load_victim
from discotext.victims.victim import Victim, compute_scores

HELD_OUT, TEST_SHARE = 0.1, 0.2  # of the training texts; and of a file without test texts
FEWEST = 40  # texts that are worth splitting into training and held-out ones
OVERLAP = 0.5  # of the test texts that may be training texts, too
SETTINGS, OUTCOME, WORK, PLAIN_FOLDER = "hardening_settings.json", "hardening.json", "work", "plain"
TRIAL = "trial.json"


@dataclass(frozen=True)
class Budgets:
    """What may change and what is measured. share: of the words. passes: to prove a text. held_out, test: texts that
    are attacked to choose a recipe, and in the end.
    """

    share: float = 0.2
    passes: int = 200
    held_out: int = 300
    test: int = 500


@suggest_keywords
def harden(
    data: Any,
    model: Any = "lstm",
    *,
    recipes: str | Sequence[str] = "auto",
    most_loss: float = 2.0,
    test: Any = None,
    candidates: Candidates | None = None,
    others: Mapping[str, Candidates] | None = None,
    budgets: Budgets = Budgets(),  # noqa: B008 (frozen)
    epochs: int | None = None,
    limit: int | None = None,
    seed: int = 0,
    columns: AnyColumns = (None, None),
    out: str | Path | None = None,
    progress: Progress | bool | None = True,
    trust: bool = False,
) -> Hardening:
    """Train a classifier that holds when words are exchanged.

    data: labelled texts to train on, as for `attack`; of a named data set, the training split.
    model: "lstm", "wcnn", "dan", "rnn" or "tfidf"; "hf:FOLDER", a fine-tuned classifier; a scikit-learn pipeline,
        fitted or not; or any other victim, which is not trained, but gets a reader of synonyms.
    recipes: "auto", or names such as "merged:0.2+adversarial" (see `discotext.experiment.hardening.recipe`).
    most_loss: points of accuracy on held-out texts that a recipe may lose; of those that lose no more, the one with the
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
    if not 0 <= most_loss <= 100:
        raise ValueError(f"most_loss is {most_loss}; choose points of accuracy, from 0 to 100")
    trainer = make_trainer(model, epochs, trust)
    wanted = _parse_recipes(recipes, trainer)
    training, testing = load_texts(data, test, columns, seed, trainer.given)
    training = training if limit is None else training.sample(limit, seed)
    check_texts(training, testing)
    bar = StageProgress(None, make_bar(progress is True))
    with tempfile.TemporaryDirectory() as temporary, bar:
        folder = Path(temporary if out is None else out)
        whole = _Hardening(
            trainer=trainer,
            recipes=wanted,
            training=training,
            testing=testing,
            candidates=candidates or Candidates(),
            others=dict(others or {}),
            budgets=budgets,
            most_loss=most_loss,
            seed=seed,
            folder=folder,
            progress=progress if callable(progress) else bar.update,
        )
        return whole.run()


def _parse_recipes(recipes: str | Sequence[str], trainer: Trainer) -> list[Recipe]:
    """The recipes to try, plain first."""
    given = [recipes] if isinstance(recipes, str) else list(recipes)
    names = [name for one in given for name in (trainer.auto if one == "auto" else (one,))]
    found = [Recipe.parse(name) for name in names]
    for one in found:
        trainer.check(one)
    return list(dict.fromkeys([PLAIN, *found]))


def load_texts(
    data: Any, test: Any, columns: AnyColumns, seed: int, given: Victim | None = None
) -> tuple[Examples, Examples]:
    """Texts to train on and texts to test on, with the same classes; those of a given victim, in its order."""
    how = columns if isinstance(columns, Columns) else Columns(*columns)

    def load(source: Any, split: Split, names: Sequence[str] | None) -> Examples:
        if isinstance(source, str | Path):
            return load_data(source, split, how.text, how.label, names, how.rename)
        return make_examples(source, how.text, how.label, names=names)

    training = load(data, "train", None if given is None else given.labels)
    if given is not None and len(training.names) != len(given.labels):
        raise ValueError(
            f"the data has {len(training.names)} classes, but {given.name} has {len(given.labels)}; use data with the "
            "model's classes"
        )
    if test is not None:
        return training, load(test, "test", training.names)
    if isinstance(data, str | Path) and has_split(data, "test"):
        return training, load(data, "test", training.names)
    if given is not None:
        warnings.warn(
            f"a fifth of the texts is kept to test on; if {given.name} was trained on them, the figures flatter it: "
            "give texts that it has not seen (--test)",
            stacklevel=4,
        )
    return training.split(TEST_SHARE, seed)


def check_texts(training: Examples, testing: Examples) -> None:
    """Raise ValueError for texts that nothing can be learnt from, or that would flatter."""
    if len(training) < FEWEST:
        raise ValueError(
            f"there are {len(training)} training texts; hardening needs {FEWEST} or more, since some are held out to "
            "choose a recipe"
        )
    there = int((training.counts > 0).sum())
    if there < 2:
        only = training.names[int(training.counts.argmax())]
        raise ValueError(f"all training texts are of the class {only!r}; a classifier needs texts of two or more")
    empty = [name for name, count in zip(training.names, training.counts.tolist(), strict=True) if not count]
    if empty:
        raise ValueError(f"there is no training text of the class {empty[0]!r}; add some, or raise --limit")
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
    """One hardening. Every recipe has a folder for its victim and its attack, so that nothing is done twice."""

    trainer: Trainer
    recipes: list[Recipe]
    training: Examples
    testing: Examples
    candidates: Candidates
    others: dict[str, Candidates]
    budgets: Budgets
    most_loss: float
    seed: int
    folder: Path
    progress: Progress

    def run(self) -> Hardening:
        self._claim_folder()
        made: dict[str, Victim] = {}  # a victim may have parts that cannot be loaded again without trust
        kept, held = self.training.split(HELD_OUT, self.seed)
        task = Task(kept, self.candidates, self.budgets.share, self.seed, self.progress)
        trials: dict[str, Trial] = {}
        looking = 0.0
        if any(one.merged is not None and not (self._place(one) / TRIAL).exists() for one in self.recipes):
            began = time.perf_counter()
            task.prepare()
            looking = time.perf_counter() - began
        for number, recipe in enumerate(self.recipes, start=1):
            title = f"{number}/{len(self.recipes)} {recipe}"
            trials[str(recipe)] = self._try(recipe, task, held, title, looking, made)
        chosen = choose(trials, self.most_loss)
        plain, hardened = (made.get(str(one)) or self._load(one, task) for one in (PLAIN, Recipe.parse(chosen)))
        self._forget_others(chosen)
        outcome = self._test(plain, hardened, chosen, trials)
        self._keep(plain, hardened, outcome)
        return outcome

    def _forget_others(self, chosen: str) -> None:
        """Remove what a hardening that ended differently, or not at all, has left of another recipe."""
        path = self.folder / WORK / "chosen.json"
        if path.exists() and _read_json(path).get("chosen") != chosen:
            shutil.rmtree(self.folder / "after", ignore_errors=True)
            (self.folder / MERGED).unlink(missing_ok=True)
        write_atomically(path, json.dumps({"chosen": chosen}) + "\n")

    def _claim_folder(self) -> None:
        """Write the settings down, or raise ValueError if the folder has others, or holds something else."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # One that was killed as it began may have left half of its settings.
        there = {file.name for file in self.folder.iterdir()} - {f"{SETTINGS}.new"}
        if there and SETTINGS not in there:
            raise ValueError(f"{self.folder} is not empty and holds no hardening; choose another folder")
        texts = "\0".join((*self.training.texts, *map(str, self.training.labels.tolist())))
        settings = {
            **self.trainer.settings(self.training),
            "texts": hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:16],
            "candidates": self.candidates.settings,
            "share": self.budgets.share,
            "held_out": self.budgets.held_out,
            "seed": self.seed,
        }
        path = self.folder / SETTINGS
        if path.exists():
            if _read_json(path) != json.loads(json.dumps(settings)):
                raise ValueError(f"{self.folder} has a hardening with other settings; choose another folder")
        else:
            write_atomically(path, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")

    def _place(self, recipe: Recipe) -> Path:
        return self.folder / WORK / str(recipe).replace(":", "-")

    def _try(
        self, recipe: Recipe, task: Task, held: Examples, title: str, looking: float, made: dict[str, Victim]
    ) -> Trial:
        """Train by a recipe and attack held-out texts, unless that was done before.

        looking: seconds that were spent on exchanges; they count for every recipe that needs them. made: gets the
        victim.
        """
        place = self._place(recipe)
        path = place / TRIAL
        if path.exists():
            return Trial(**_read_json(path))

        def report(activity: str, done: float) -> None:
            self.progress(f"{title}: {activity}", done)

        began = time.perf_counter()
        victim = self.trainer.train(recipe, Task(task.examples, task.candidates, task.share, task.seed, report, task))
        seconds = time.perf_counter() - began + (looking if recipe.merged is not None else 0.0)
        made[str(recipe)] = victim
        place.mkdir(parents=True, exist_ok=True)
        if self.trainer.saves(recipe):
            victim.save(place / "victim", {"recipe": str(recipe)})
        report("attacking held-out texts", 0.0)
        right = predictions(compute_scores(victim, held.texts)) == held.labels
        records = self._attack(victim, held).records
        attacked = float(np.mean([holds(record) for record in records]))
        trial = Trial(clean=float(right.mean()), attacked=attacked, seconds=round(seconds, 2), texts=len(records))
        write_atomically(path, json.dumps(trial.as_dict()) + "\n")
        return trial

    def _attack(self, victim: Victim, held: Examples) -> Result:
        return attack(
            victim,
            held,
            choose_solver(victim),
            budget=self.budgets.share,
            candidates=self.candidates,
            limit=self.budgets.held_out,
            seed=self.seed,
            progress=False,
        )

    def _load(self, recipe: Recipe, task: Task) -> Victim:
        """The victim of a recipe: where a trial left it, or a hardening that was finished; else it is made again."""
        for place in (self._place(recipe) / "victim", self.folder / PLAIN_FOLDER, self.folder):
            if (place / "settings.json").exists() and read_settings(place).get("recipe") == str(recipe):
                return load_victim(place)
        return self.trainer.train(recipe, task)

    def _test(self, plain: Victim, hardened: Victim, chosen: str, trials: Mapping[str, Trial]) -> Hardening:
        """Measure both models on the test texts: the only time that these are touched."""
        self.progress("testing", 0.0)
        clean = [self._measure_clean(victim) for victim in (plain, hardened)]
        some = self.testing.sample(self.budgets.test, self.seed)
        runs: list[Result] = []
        for name, victim in (("before", plain), ("after", hardened)):
            if victim is not self.trainer.given:
                victim.name = f"{self.trainer.name}, {PLAIN if name == 'before' else chosen}"
            self.progress(f"attacking and proving: {name}", 0.5 * len(runs))
            runs.append(
                certify(
                    victim, some, choose_solver(victim), budget=self.budgets.share, passes=self.budgets.passes,
                    candidates=self.candidates, seed=self.seed, out=self.folder / name, progress=False,
                )
            )  # fmt: skip
        matrix = {OWN: Pair.of(runs[0].records, runs[1].records)}
        if plain is not hardened and chosen != str(PLAIN):
            cells = list(list_cells(hardened, self.candidates, self.budgets.share, self.others))
            matrix |= fill(cells, plain, hardened, some, self.seed, self.progress)
        return Hardening(
            victim=hardened,
            plain=plain,
            chosen=chosen,
            trials=dict(trials),
            most_loss=self.most_loss,
            share=self.budgets.share,
            model=self.trainer.name,
            data=self.training.source,
            seed=self.seed,
            clean=(clean[0], clean[1]),
            certificates=(runs[0].certificates[0], runs[1].certificates[0]),
            matrix=matrix,
            trained=self.trainer.given is None or self.trainer.saves(Recipe.parse(chosen)),
            runs=(runs[0], runs[1]),
        )

    def _measure_clean(self, victim: Victim) -> Estimate:
        right = predictions(compute_scores(victim, self.testing.texts)) == self.testing.labels
        found = estimate_share(right)
        assert found is not None
        return found

    def _keep(self, plain: Victim, hardened: Victim, outcome: Hardening) -> None:
        """Leave the hardened victim, the plain one and the figures in the folder; what only served to choose goes."""
        self.progress("saving", 0.9)
        said = {"recipe": outcome.chosen, "hardening": outcome.as_dict()}
        if self.trainer.saves(Recipe.parse(outcome.chosen)):
            hardened.save(self.folder, said)
        elif isinstance(hardened, Encoded):
            # The model is not ours to save; its merged words are, to be put in front of it again.
            write_atomically(self.folder / MERGED, hardened.merged.to_json())
        if self.trainer.saves(PLAIN):
            plain.save(self.folder / PLAIN_FOLDER, {"recipe": str(PLAIN)})
        write_atomically(self.folder / OUTCOME, json.dumps(outcome.as_dict(), indent=2, ensure_ascii=False) + "\n")
        write_atomically(self.folder / "report.html", make_hardening_page(outcome))
        for place in (self.folder / WORK).glob("*/victim"):
            (place / "settings.json").unlink(missing_ok=True)  # first, for without them it is no victim (see `_load`)
            shutil.rmtree(place, ignore_errors=True)


def _read_json(path: Path) -> dict[str, Any]:
    """What one of our own files says; a ValueError names a damaged one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged; choose another folder")
    return found


def choose(trials: Mapping[str, Trial], most_loss: float) -> str:
    """The recipe with the highest accuracy under attack among those that lose few points; the first of equal ones.

    >>> trials = {"plain": Trial(0.90, 0.3, 1, 9), "a": Trial(0.89, 0.6, 1, 9), "b": Trial(0.80, 0.7, 1, 9)}
    >>> choose(trials, 2), choose(trials, 0), choose(trials, 20)
    ('a', 'plain', 'b')
    """
    least = trials["plain"].clean - most_loss / 100 - 1e-9
    within = [name for name, trial in trials.items() if trial.clean >= least]
    return max(within, key=lambda name: trials[name].attacked)
