"""Closed-class words: function words, negations, numbers, days and months. No synonym can replace them without
changing the meaning."""

from __future__ import annotations

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
