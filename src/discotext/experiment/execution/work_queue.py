"""What workers still have to do, what is done again after a failure, and what waits for earlier tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discotext.experiment.job import Question, Reply, Task
from discotext.experiment.record import Record

ATTEMPTS = 3  # workers that may die of a task before it is done in halves
BLAME = 0.1  # what the loss of a machine counts of a death: some text may be what takes machines down
FAILURES_IN_A_ROW = 8  # texts that fail alone, one after the other, before the run is given up

Work = Task | Question
Found = Record | Reply


@dataclass(frozen=True)
class Lost:
    """A worker has died. blameless: its machine, or the connection to it, was lost, so its task is not to blame."""

    why: str
    blameless: bool = False


@dataclass(frozen=True)
class Assignment:
    """A task at some place in the order, or part of it. deaths: of workers that had it."""

    place: int
    task: Work
    deaths: float = 0


class WorkQueue:
    """Tasks still to be assigned, and what is found of later ones while earlier ones are not finished.

    make: the task at a place. size: how many there are. ahead: how many may be done before the next one to be finished.
    fail: what is found of a task that is given up, and why. given_up: texts that no worker is to get, and why.
    """

    def __init__(
        self,
        make: Callable[[int], Work],
        size: int,
        ahead: int,
        fail: Callable[[Any, str], Sequence[Found]],
        given_up: dict[str, str],
    ) -> None:
        self.make, self.size, self.ahead, self.fail, self.given_up = make, size, ahead, fail, given_up
        self.again: deque[Assignment] = deque()  # what failed, to be assigned before all else
        self.next = self.turn = 0
        self.numbers: dict[int, tuple[int, ...]] = {}  # of the texts of each task that was begun
        self.done: dict[int, dict[int, Found]] = {}  # by place and number of the text
        self.bad = 0  # texts given up since the last success
        self.divided = False

    @property
    def over(self) -> bool:
        return self.turn == self.size

    def take(self) -> Assignment | None:
        """The next assignment, or None if there is none now."""
        if self.again:
            return self.again.popleft()
        while self.next < min(self.size, self.turn + self.ahead):
            assignment = Assignment(self.next, self.make(self.next))
            self.numbers[self.next] = assignment.task.numbers
            self.next += 1
            whole = assignment.task
            for place, text in enumerate(whole.texts):
                if text in self.given_up:
                    self._keep(assignment, self.fail(whole.take([place]), self.given_up[text]))
            left = [place for place, text in enumerate(whole.texts) if text not in self.given_up]
            if len(left) == len(whole.texts):
                return assignment
            if left:
                return replace(assignment, task=whole.take(left))
        return None

    def finish(self, assignment: Assignment, found: Sequence[Found]) -> None:
        self.bad = 0
        self._keep(assignment, found)

    def _keep(self, assignment: Assignment, found: Sequence[Found]) -> None:
        self.done.setdefault(assignment.place, {}).update({one.id: one for one in found})

    def lost(self, assignment: Assignment, how: Lost) -> None:
        """The worker died: the same again, in the end in halves."""
        deaths = assignment.deaths + (BLAME if how.blameless else 1)
        if deaths < ATTEMPTS:
            self.again.appendleft(replace(assignment, deaths=deaths))
        else:
            self.halve(assignment, f"the worker died: {how.why}")

    def halve(self, assignment: Assignment, why: str) -> None:
        """The same in two halves; of one text, what is found of a failure."""
        task, many = assignment.task, len(assignment.task.texts)
        if many > 1:
            self.divided = True
            # Something is wrong here, so one more death is enough to look closer; a single text is given more chances.
            self.again.extendleft(
                Assignment(assignment.place, half, ATTEMPTS - 1 if len(half.texts) > 1 else 0)
                for half in (task.take(range(many // 2, many)), task.take(range(many // 2)))
            )
            return
        self.bad += 1
        if self.bad == FAILURES_IN_A_ROW:
            raise RuntimeError(
                f"{FAILURES_IN_A_ROW} texts in a row failed, the last (text {task.numbers[0]}) with: {why}. "
                "Finished work is kept; try fewer workers or a longer time limit"
            )
        if isinstance(
            task, Question
        ):  # an attack may fail where another solver would not; a question is the text itself
            self.given_up[task.texts[0]] = why
        self._keep(assignment, self.fail(task, why))

    def pop_finished(self) -> Iterator[list[Any]]:
        """What is found of finished tasks, in order, up to the first that is not finished."""
        while not self.over:
            numbers = self.numbers.get(self.turn)
            if numbers is None or len(self.done.get(self.turn, ())) < len(numbers):
                return
            found = self.done.pop(self.turn)
            del self.numbers[self.turn]
            self.turn += 1
            yield [found[number] for number in numbers]


def fail_question(question: Question, reason: str) -> list[Reply]:
    return [Reply(number, error=reason) for number in question.numbers]
