"""Filters: the reasons why a proposed word may not replace another. Each has a name and can be switched off.

A filter sees a word in its context and one candidate at a time, already in the inflected form it would have there. The
first filter that refuses a candidate gives its name to the refusal. To add a custom one, subclass `Filter`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, product
from typing import ClassVar

from discotext.text.inflection import PARTS, find_lemmas, inflect, is_spelling_of, lemmatise, match_inflection
from discotext.text.thesaurus import WordNet, load_wordnet
from discotext.text.vectors import WordVectors, load_packaged_vectors
from discotext.text.words import WordContext, match_case

# Closed-class words: no synonym can replace them without changing the meaning.
STOP_WORDS = frozenset(
    """
    a about above across after again against ago ahead all almost alone along already also although always am amid
    among an and another any anybody anyhow anyone anything anyway anywhere apart are around as aside at away back be
    because been before behind being below beneath beside besides best better between beyond both but by came can come
    could did do does doing done down during each either else elsewhere enough even ever every everybody everyone
    everything everywhere except far few fewer first for former forth from further get gets getting go goes going gone
    got gotten had half has have having he hence her here hers herself him himself his how however i if in indeed
    inside instead into is it its itself just last later latter least less lest let lets like likewise likely little
    lot lots made make makes making many may maybe me meanwhile might mine more moreover most mostly much must my
    myself near nearly never next not now of off often on once one ones only onto or other others otherwise ought our
    ours ourselves out outside over own per perhaps please quite rather really same several shall she should since so
    some somebody somehow someone something sometimes somewhere soon still such than that the their theirs them
    themselves then there thereby therefore these they thing things this those though through throughout thus till to
    together too toward towards under unless until up upon us use used very via was we well went were what whatever
    when whenever where whereas wherever whether which whichever while who whoever whole whom whose why will with
    within would yes yet you your yours yourself yourselves
    oh ah eh hey hi hello ok okay etc eg ie vs mr mrs ms dr st
    way ways kind sort bit day days year years month months week weeks hour hours minute minutes time times today
    tomorrow yesterday tonight
    """.split()
)

NEGATIONS = frozenset(
    """
    no not never none nobody nothing nowhere neither nor without hardly barely scarcely cannot cant dont doesnt didnt
    isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt aint n't nt lack lacks lacked lacking fail
    fails failed failing
    """.split()
)
# Prefixes that turn a word into its opposite.
NEGATING_PREFIXES = frozenset("un in im il ir dis non mis anti de under over".split())

NUMBERS = frozenset(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million
    millions billion billions trillion trillions dozen dozens first second third fourth fifth sixth seventh eighth
    ninth tenth half halves quarter quarters double triple twice once thrice single percent percentage pct
    """.split()
)

CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays january february march april may june july august september october november december spring summer autumn
    winter
    """.split()
)

# Stop words that are nouns, verbs, adjectives or adverbs in many sentences. Where the tagger says so, other words may
# replace them, and they may replace others.
OPEN_CLASS = frozenset(
    """
    almost apart best better come came coming even far few forward further get gets getting got go goes going gone went
    indeed just kind last later latter let lets like likely likewise little lot lots made make makes making many maybe
    meanwhile moreover mostly nearly often ok okay only outside perhaps quite rather really several sometimes soon sort
    still thing things together use used very way ways well whole bit day days year years month months week weeks hour
    hours minute minutes time times today tonight again always ago ahead already also anyway aside away back enough
    instead otherwise therefore thus yet
    """.split()
)


class Filter(ABC):
    """Refuses candidates.

    name: identifies the filter in refusals, options and settings.
    context_dependent: whether the decision depends on the words around. If not, it may depend only on the word as
        written, its tag, `context.starts_sentence` and `context.text.all_caps`, and is made once for all occurrences.
    """

    name: ClassVar[str]
    context_dependent: ClassVar[bool] = False

    def keeps(self, context: WordContext) -> bool:
        """Whether the word itself rules out every candidate. Asked first; if so, `refuses` is not called."""
        return False

    @abstractmethod
    def refuses(self, context: WordContext, candidate: str) -> bool:
        """Whether this candidate, in lower case, may not replace the word."""

    def settings(self) -> dict[str, float | int | str]:
        """The parameters that decide what is refused, for records. Override this if the filter has any."""
        return {}


@dataclass(frozen=True)
class StopWords(Filter):
    """Function words are kept, and never proposed for other words."""

    name = "stop-words"

    def keeps(self, context: WordContext) -> bool:
        return self._is_stop_word(context.lower) and not (context.lower in OPEN_CLASS and context.tag in PARTS)

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return self._is_stop_word(candidate) and candidate not in OPEN_CLASS

    @staticmethod
    def _is_stop_word(word: str) -> bool:
        return word in STOP_WORDS or "'" in word or "’" in word or len(word) < 2


@dataclass(frozen=True)
class Numbers(Filter):
    """Numbers are kept: digits, numbers in words, and fractions."""

    name = "numbers"

    def keeps(self, context: WordContext) -> bool:
        return context.tag == "CD" or self.refuses(context, context.lower)

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return candidate in NUMBERS or (not candidate.isalpha() and any(sign.isdigit() for sign in candidate))


@dataclass(frozen=True)
class Names(Filter):
    """Names of people, places and things are kept, as are acronyms and days: another name is not a synonym.

    A capital within a sentence marks a name even if the tagger disagrees. (In a text all in capitals, names cannot be
    told from other words.)
    """

    name = "names"

    def keeps(self, context: WordContext) -> bool:
        if context.tag in ("NNP", "NNPS") or context.lower in CALENDAR:
            return True
        if context.word.islower() or context.text.all_caps:
            return False
        # GREATEST is an ordinary word with emphasis; NASA and iPhone are names.
        emphasised = context.word.isupper() and len(context.word) > 5
        capitalised = context.word[1:].islower() or len(context.word) == 1
        return not emphasised and (not capitalised or not context.starts_sentence)

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return candidate in CALENDAR


@dataclass(frozen=True)
class PartOfSpeech(Filter):
    """Only nouns, verbs, adjectives and adverbs are replaced, and only by words that can be the same part of speech."""

    name = "part-of-speech"

    def keeps(self, context: WordContext) -> bool:
        return context.tag not in PARTS

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return not find_lemmas(candidate, PARTS[context.tag])


@dataclass(frozen=True)
class Inflection(Filter):
    """A candidate has the inflection of the word, and is not just another form or spelling of it."""

    name = "inflection"

    def keeps(self, context: WordContext) -> bool:
        base = lemmatise(context.lower, context.tag)
        # `funniest` tagged as a plain adjective: the tagger erred, so the required form is unknown.
        return base != context.lower and context.tag in PARTS and context.lower not in inflect(base, context.tag)

    def refuses(self, context: WordContext, candidate: str) -> bool:
        tag = context.tag
        base, other = lemmatise(context.lower, tag), lemmatise(candidate, tag)
        return match_inflection(candidate, tag) != candidate or base == other or is_spelling_of(base, other)


@dataclass(frozen=True, eq=False)
class Antonyms(Filter):
    """No opposites: WordNet's antonyms, negations, and words derived from each other by negation."""

    source: WordNet = field(default_factory=load_wordnet)
    name = "antonyms"

    def refuses(self, context: WordContext, candidate: str) -> bool:
        word = context.lower
        if {word, candidate} & NEGATIONS or word.endswith("n't") or candidate.endswith("n't"):
            return True
        if self.source.are_antonyms(word, candidate):
            return True
        base, other = lemmatise(word, context.tag), lemmatise(candidate, context.tag)
        return self.source.are_antonyms(base, other) or is_negated(base, other) or is_negated(other, base)


def is_negated(word: str, other: str) -> bool:
    """Whether the second word is the first with a negating prefix or suffix.

    >>> is_negated("happy", "unhappy"), is_negated("useful", "useless"), is_negated("care", "careful")
    (True, True, False)
    """
    if other.endswith(word) and other[: len(other) - len(word)] in NEGATING_PREFIXES:
        return True
    return other.endswith("less") and word in (other[:-4] + "ful", other[:-4], other[:-4] + "y")


@dataclass(frozen=True, eq=False)
class Similarity(Filter):
    """A minimum cosine similarity with the word in a vector space; words without a vector are refused."""

    least: float = 0.5
    vectors: WordVectors = field(default_factory=load_packaged_vectors)
    name = "similarity"

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return self.measure(context, candidate) < self.least

    def settings(self) -> dict[str, float | int | str]:
        return {"least": self.least}

    def measure(self, context: WordContext, candidate: str) -> float:
        """The cosine of the word and the candidate or of their dictionary forms; −1 if there is no vector."""
        lemmas = lemmatise(context.lower, context.tag), lemmatise(candidate, context.tag)
        return max(self.vectors.cosine(*pair, unknown=-1.0) for pair in ((context.lower, candidate), lemmas))


@dataclass(frozen=True, eq=False)
class UnknownToVictim(Filter):
    """No words outside the victim's vocabulary: such a swap would only delete the original word."""

    vocabulary: Container[str]
    name = "unknown-to-victim"

    def refuses(self, context: WordContext, candidate: str) -> bool:
        # In the casing it would have in the text: some victims are case-sensitive.
        return match_case(context.word, candidate) not in self.vocabulary


@dataclass(frozen=True)
class Article(Filter):
    """After `a` or `an`, a candidate starts with the same kind of sound as the word."""

    name, context_dependent = "article", True

    def refuses(self, context: WordContext, candidate: str) -> bool:
        if context.before(1) not in ("a", "an"):
            return False
        return starts_with_vowel_sound(context.lower) != starts_with_vowel_sound(candidate)


@lru_cache(1 << 16)
def starts_with_vowel_sound(word: str) -> bool:
    """Whether the word takes `an`.

    >>> [starts_with_vowel_sound(word) for word in ("old", "hour", "house", "user", "uncle", "one", "European")]
    [True, True, False, False, True, False, False]
    """
    word = word.lower()
    if word.startswith(("hour", "honest", "honor", "honour", "heir")):
        return True
    if word.startswith(("eu", "ew", "one", "once", "ubiq", "use", "usu", "uti", "ura", "uni")):
        return word.startswith(("unim", "unin", "uninv", "unid"))
    return word[:1] in "aeiou"


@dataclass(frozen=True, eq=False)
class Phrase(Filter):
    """Words of a set phrase are kept, since they mean something else on their own.

    These are phrases in WordNet (`prime minister`, `turned out`), compounds that are also written as one word (`super
    heroes`), and a noun before a noun (`search results`).
    """

    source: WordNet = field(default_factory=load_wordnet)
    name, context_dependent = "phrase", True

    def keeps(self, context: WordContext) -> bool:
        if context.tag.startswith("NN") and context.next_tag.startswith("NN"):
            return True
        word, before, after = context.lower, context.before(1), context.after(1)
        if self._is_compound(before, word) or self._is_compound(word, after):
            return True
        here, earlier = (word, lemmatise(word, context.tag)), _possible_bases(before)
        phrases = chain(
            product(earlier, here),
            product(here, (after, _make_singular(after))),
            product(here, (after,), (context.after(2),)),
            product(earlier, here, (after,)),
            product(_possible_bases(context.before(2)), (before,), here),
        )
        return not self.source.phrases.isdisjoint(phrases)

    def refuses(self, context: WordContext, candidate: str) -> bool:
        return False

    def _is_compound(self, first: str, second: str) -> bool:
        """Whether two words are also written as one."""
        if len(first) <= 2 or len(second) <= 2:
            return False
        return bool({(first + second, "n"), (first + _make_singular(second), "n")} & self.source.parts)


@lru_cache(1 << 16)
def _possible_bases(word: str) -> tuple[str, ...]:
    """A word and its possible dictionary forms, since the first word of a phrase is inflected (`turned out`)."""
    return tuple({word, *find_lemmas(word, "VERB"), *find_lemmas(word, "NOUN")}) if word else ()


def _make_singular(word: str) -> str:
    return lemmatise(word, "NNS") if word else word


# In the order in which they are applied: those that save the most work come first.
STANDARD_FILTERS: dict[str, Callable[[], Filter]] = {
    one.name: one
    for one in (StopWords, Numbers, Names, PartOfSpeech, Antonyms, Inflection, Similarity, Phrase, Article)
}
# Whether a swap keeps the meaning is for a scorer to say, or for the user whose synonym list it is.
DEFAULT_FILTERS = tuple(name for name in STANDARD_FILTERS if name != Similarity.name)


def make_filters(names: Collection[str]) -> tuple[Filter, ...]:
    """Make filters by name, in the standard order.

    >>> [one.name for one in make_filters(["article", "numbers"])]
    ['numbers', 'article']
    """
    for name in names:
        if name not in STANDARD_FILTERS:
            raise ValueError(f"there is no filter {name!r}; choose among {', '.join(STANDARD_FILTERS)}")
    return tuple(make() for name, make in STANDARD_FILTERS.items() if name in names)
