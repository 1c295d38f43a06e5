"""How a crew of workers does the units of a job, wherever they are.

Units are given out in their order to whoever is free, and their records come back in the same order, whoever did them.
Nobody gets far ahead of the unit whose turn it is, so that what waits to be written stays small.

Whatever happens to a worker, its task is done again. A worker that dies may have died of its task: so after some
deaths, or when its time is over, a task is done again in halves, and what still goes wrong with one text alone becomes
that text's record. Where the worker's whole machine has gone, the task is hardly suspected.

A worker that cannot be made ready is left out, and told, as long as others can.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from discotext.experiment.job import Job, Task, Unit
from discotext.experiment.work import Record, given_up

AHEAD = 4  # units for each worker that may be done before the one whose turn it is
TRIES = 3  # how often a task is given out whose worker dies, before it is halved
BLAME = 0.1  # of a death, where a whole machine is gone: some text may be what takes machines down
HOPELESS = 8  # texts that go wrong alone, with none in between that does not, before it is said that all would
LOOK = 1.0  # seconds after which what there is to tell is told again
LATELY = 30.0  # seconds over which rates are taken

Tell = Callable[[str], None]
clock = time.monotonic  # what tells the time here; a name of its own, so that tests can put another in its place


def silent(said: str) -> None:
    """To whom it may be told where nobody listens."""


@dataclass(frozen=True)
class Arrived:
    """A worker is ready to be given tasks. where: the machine it is on. node: how that is known to others."""

    where: str
    node: str = ""


@dataclass(frozen=True)
class Lost:
    """A worker is no more. blameless: whether its machine went with it, or the line to it."""

    why: str
    blameless: bool = False


Answer = Arrived | Lost | Exception | list[Record]


class Worker(Protocol):
    """Whoever does tasks, one at a time. Its first answer is that it has arrived, or why not."""

    def give(self, task: Task) -> None: ...

    def answer(self) -> Answer:
        """To be asked for when `Crew.wait` says that there is one."""
        ...

    def stop(self) -> None: ...


class Crew(Protocol):
    """Where workers come from."""

    def hire(self, place: int) -> Worker:
        """One that is on its way, for a place among the workers of its kind."""
        ...

    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]:
        """Those that have an answer, as soon as one has, or after so long none."""
        ...


@dataclass(eq=False)
class Seat:
    """A worker's place in the crew: where it is, once it has arrived, and what it is at."""

    place: int
    worker: Worker
    where: str | None = None
    piece: Piece | None = None
    since: float = 0.0

    @property
    def free(self) -> bool:
        return self.where is not None and self.piece is None


@dataclass(frozen=True)
class Piece:
    """A task that belongs to the unit in some place of the order. deaths: of workers that were at it."""

    place: int
    task: Task
    deaths: float = 0


def drive(
    crew: Crew, count: int, job: Job, units: Sequence[Unit], limit: float | None, tell: Tell
) -> Iterator[list[Record]]:
    """The records of each unit, in their order, by so many workers. limit: seconds for a task, None for any."""
    pieces, rates, unborn, told = Pieces(job, units, AHEAD * count), Rates(), 0, 0.0
    seats: list[Seat] = []
    try:
        seats += [Seat(place, crew.hire(place)) for place in range(min(count, len(units)))]
        while not pieces.over:
            for seat in seats:
                if seat.free and (piece := pieces.take()) is not None:
                    seat.piece, seat.since = piece, clock()
                    seat.worker.give(piece.task)
            if clock() - told >= LOOK:
                tell(rates.line(seats))
                told = clock()
            for seat in waited(crew, seats, limit):
                answer, piece = seat.worker.answer(), seat.piece
                seat.piece = None
                if isinstance(answer, Lost) and piece is None:
                    unborn += not answer.blameless
                    if unborn >= TRIES:
                        answer = RuntimeError(
                            f"a worker ended {TRIES} times before it was ready: {answer.why}. What is done is kept"
                        )
                if isinstance(answer, Exception):
                    if piece is not None or not any(other.where for other in seats):
                        raise answer
                    warnings.warn(f"one worker less: {answer}", stacklevel=2)
                    seats.remove(seat)
                    seat.worker.stop()
                    unborn = 0
                elif isinstance(answer, Arrived):
                    seat.where, unborn = answer.where, 0
                    rates.arrive(answer.where)
                elif isinstance(answer, Lost):
                    if piece is not None:
                        pieces.lost(piece, answer)
                    seats[seats.index(seat)] = Seat(seat.place, crew.hire(seat.place))
                elif piece is not None:
                    pieces.finish(piece, answer)
                    rates.count(seat.where, len(answer))
            for seat in late(seats, limit):
                assert seat.piece is not None
                seat.worker.stop()
                pieces.halve(seat.piece, f"TimeoutError: not done within {limit:g} seconds, the time limit")
                seats[seats.index(seat)] = Seat(seat.place, crew.hire(seat.place))
            yield from pieces.in_turn()
    finally:
        for seat in seats:
            seat.worker.stop()


def waited(crew: Crew, seats: Sequence[Seat], limit: float | None) -> list[Seat]:
    """Those with an answer, waited for no longer than the first time limit."""
    awaited = {id(seat.worker): seat for seat in seats if not seat.free}
    ends = [seat.since + limit for seat in seats if seat.piece is not None and limit is not None]
    seconds = min([LOOK, *(end - clock() for end in ends)])
    return [awaited[id(one)] for one in crew.wait([seat.worker for seat in awaited.values()], max(0.0, seconds))]


def late(seats: Sequence[Seat], limit: float | None) -> list[Seat]:
    now = clock()
    return [seat for seat in seats if limit is not None and seat.piece is not None and now - seat.since > limit]


class Pieces:
    """What is still to be given out, and what has come back and waits for its turn."""

    def __init__(self, job: Job, units: Sequence[Unit], ahead: int) -> None:
        self.job, self.units, self.ahead = job, units, ahead
        self.again: deque[Piece] = deque()  # what went wrong, to be given out before all else
        self.next = self.turn = 0
        self.done: dict[int, dict[int, Record]] = {}  # by place and number of the text
        self.bad = 0  # texts given up since one was not

    @property
    def over(self) -> bool:
        return self.turn == len(self.units)

    def take(self) -> Piece | None:
        """The next to be done, None if there is none now."""
        if self.again:
            return self.again.popleft()
        if self.next == len(self.units) or self.next >= self.turn + self.ahead:
            return None
        self.next += 1
        return Piece(self.next - 1, self.job.task(self.units[self.next - 1]))

    def finish(self, piece: Piece, records: Sequence[Record]) -> None:
        self.bad = 0
        self._keep(piece, records)

    def _keep(self, piece: Piece, records: Sequence[Record]) -> None:
        self.done.setdefault(piece.place, {}).update({record["id"]: record for record in records})

    def lost(self, piece: Piece, how: Lost) -> None:
        """The worker died: the same again, in the end in halves."""
        deaths = piece.deaths + (BLAME if how.blameless else 1)
        if deaths < TRIES:
            self.again.appendleft(replace(piece, deaths=deaths))
        else:
            self.halve(piece, f"the worker ended: {how.why}")

    def halve(self, piece: Piece, why: str) -> None:
        """The same in two halves; of one text, a record that it went wrong."""
        if len(piece.task.texts) > 1:
            # Something is wrong here, and one more death is enough to look closer; a text alone is not judged by one.
            self.again.extendleft(
                Piece(piece.place, half, TRIES - 1 if len(half.texts) > 1 else 0)
                for half in reversed(piece.task.halves())
            )
            return
        self.bad += 1
        if self.bad == HOPELESS:
            raise RuntimeError(
                f"text after text went wrong, the last (text {piece.task.numbers[0]}) with: {why}. What is done is "
                "kept; try fewer workers or a longer time limit"
            )
        self._keep(piece, given_up(self.job, piece.task, why))

    def in_turn(self) -> Iterator[list[Record]]:
        """Units that are whole, one after the other, as far as they go."""
        while not self.over:
            numbers = self.job.chunks[self.units[self.turn].chunk]
            if len(self.done.get(self.turn, ())) < len(numbers):
                return
            found = self.done.pop(self.turn)
            self.turn += 1
            yield [found[number] for number in numbers]


class Rates:
    """How quick each machine is of late, for people to look at."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.done: dict[str, deque[tuple[float, int]]] = {}

    def arrive(self, where: str) -> None:
        self.began.setdefault(where, clock())
        self.done.setdefault(where, deque())

    def count(self, where: str | None, texts: int) -> None:
        assert where is not None
        self.done[where].append((clock(), texts))

    def rate(self, where: str, now: float) -> float:
        done = self.done[where]
        while done and done[0][0] < now - LATELY:
            done.popleft()
        return sum(texts for _, texts in done) / max(LOOK, min(LATELY, now - self.began[where]))

    def line(self, seats: Sequence[Seat]) -> str:
        """As '3 of 4 workers; left 12.1, right 11.8 texts/s'; many machines by the slowest and the quickest."""
        now = clock()
        here = [seat.where for seat in seats if seat.where is not None]
        said = (
            f"{len(here)} of {len(seats)} workers"
            if len(here) < len(seats)
            else f"{len(here)} worker{'s' * (len(here) > 1)}"
        )
        rates = {where: self.rate(where, now) for where in sorted(set(here))}
        if len(rates) < 2:
            return said
        if len(rates) <= 4:
            return f"{said}; {', '.join(f'{where} {rate:.1f}' for where, rate in rates.items())} texts/s"
        low, high = min(rates.values()), max(rates.values())
        return f"{said}; {len(rates)} nodes at {low:.1f} to {high:.1f} texts/s each"
