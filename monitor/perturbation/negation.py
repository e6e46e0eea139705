"""Negation inside a word: *likely* and *unlikely*, *careful* and *careless*."""

from __future__ import annotations

from monitor.perturbation.lexicon import Lexicon

_PREFIXES = (
    "un", "in", "im", "ir", "il", "non", "dis", "mis", "anti", "de", "mal", "counter",
    "contra", "a", "ab", "dys", "under", "over", "pseudo", "quasi", "ex", "half", "semi", "sub",
)  # fmt: skip
_POLES = (
    ("over", "under"), ("pre", "post"), ("pro", "anti"), ("im", "ex"), ("in", "ex"),
    ("in", "out"), ("up", "down"), ("ante", "post"), ("hyper", "hypo"), ("macro", "micro"),
    ("intro", "extro"), ("inter", "intra"), ("super", "sub"), ("fore", "hind"), ("en", "dis"),
    ("as", "des"), ("ac", "de"), ("ap", "de"), ("con", "dis"), ("as", "dis"), ("mono", "poly"),
    ("uni", "multi"), ("bi", "uni"), ("en", "de"), ("intra", "extra"), ("in", "de"),
    ("homo", "hetero"), ("on", "off"), ("maxi", "mini"), ("pro", "re"), ("ad", "de"),
)  # fmt: skip
_TWINS = (("ful", "less"), ("er", "ee"), ("or", "ee"), ("free", "ful"))

_POLAR_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis")
_NOT_NEGATED = frozenset(
    ["under", "uncle", "union", "unit", "unite", "united", "uniform", "unique", "universe", "universal", "university", "unity", "understand", "understanding", "undertake", "undergo", "underlie", "underline", "underground", "underneath", "until", "unanimous", "unanimously", "unilateral", "undermine", "undergraduate", "underwrite", "underwear", "discover", "discovery", "discuss", "discussion", "display", "distance", "distant", "distinct", "distinction", "distinguish", "distribute", "distribution", "district", "disease", "disaster", "disastrous", "discount", "dispatch", "dispute", "disturb", "distress", "discipline", "dish", "disk", "disc", "dismiss", "dispose", "disposal", "dispense", "disciple", "discourse", "discreet", "discrete", "discretion", "discriminate", "discern", "disguise", "disgust", "disperse", "displace", "dissolve", "disrupt", "disruption", "dissident", "dissent", "distil", "distract", "district", "mission", "missile", "miss", "mister", "mistress", "mist", "mischief", "miscellaneous", "misery", "miserable", "missionary", "include", "including", "income", "increase", "indeed", "index", "indicate", "indication", "individual", "industry", "industrial", "infant", "infect", "infection", "inflict", "influence", "inform", "information", "initial", "initially", "initiate", "initiative", "inject", "injure", "injury", "inner", "innocent", "inquire", "inquiry", "insert", "inside", "insight", "insist", "inspect", "inspector", "inspire", "install", "instance", "instant", "instantly", "instead", "institute", "institution", "instruct", "instrument", "insult", "insure", "insurance", "intact", "integral", "intellectual", "intelligence", "intelligent", "intend", "intense", "intensive", "intent", "intention", "interest", "interested", "interesting", "interim", "interior", "internal", "international", "internet", "interpret", "intervene", "interview", "introduce", "invade", "invasion", "invent", "invest", "investigate", "investigation", "investigator", "investment", "investor", "invite", "involve", "involvement", "involved", "inward", "incident", "incidental", "incline", "inclined", "inch", "ingredient", "inhabit", "inherent", "inherit", "input", "inevitable", "infrastructure", "ingenious", "intimate", "intricate", "intrinsic", "invaluable", "installed", "inflammable", "image", "imagine", "imagination", "imaginary", "immediate", "immediately", "immense", "immigrant", "immigration", "impact", "impart", "implant", "implement", "implicate", "implication", "imply", "import", "important", "importance", "importantly", "impose", "imposing", "impress", "impression", "impressive", "imprison", "improve", "improvement", "impulse", "imminent", "impending", "immune", "immerse", "impetus", "imperial", "implicit", "iron", "irony", "ironic", "irrigate", "irritate", "island", "illness", "illustrate", "illusion", "illuminate", "none", "nonetheless", "nonsense", "display", "displayed", "disposed", "discerning", "independent", "independence", "independently", "intends", "implication", "innovation", "innovate", "intensity", "incredible", "incredibly", "inmate", "insect", "incorporate", "impasse", "injunction", "invoke", "invoice", "inland", "disappoint", "disappointed", "disappointing", "disappointment", "disclose", "disclosure", "discharge", "disband", "dismantle", "disclaim", "mistake", "mistaken", "unless", "unveil", "unleash", "unrest", "uncover", "unfold", "unprecedented", "unbelievable", "ruthless", "regardless", "wireless", "countless", "endless", "nevertheless", "illustrated", "imply", "indian", "indoor", "indoors", "ingrained", "incumbent", "infinite", "infamous"]
)  # fmt: skip
"""Words that only look as if they were negated."""


def negates(first: frozenset[str], second: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether two words, each given by all its base forms, differ by a negation.

    True where one is the other behind a negating prefix, where the prefixes or suffixes
    are the two poles of a pair (*import*, *export*; *employer*, *employee*), and where
    exactly one of them is negated (*strange*, *unusual* share no stem, and are refused:
    a word without negation is at hand more often than not).
    """
    if negated(first, lexicon) != negated(second, lexicon):
        return True
    return any(
        _derived(a, b) or _derived(b, a) or _poles(a, b) or _suffixes(a, b)
        for a in first
        for b in second
        if a != b
    )


def negated(forms: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a word, given by its base forms, carries a negation inside."""
    return not forms & _NOT_NEGATED and any(_negated(form, lexicon) for form in forms)


def _negated(word: str, lexicon: Lexicon) -> bool:
    if word.endswith("less") and len(word) > 6:
        return bool(lexicon.lemmas_as(word[:-4], "NOUN"))
    for prefix in _POLAR_PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) >= 4:
            parts = ("ADJ", "ADV", "VERB", "NOUN")
            if rest in _NOT_NEGATED or any(lexicon.lemmas_as(rest, part) for part in parts):
                return True
    return False


def _derived(base: str, word: str) -> bool:
    """Whether `word` is `base` behind a negating prefix, hyphen or not."""
    if len(base) < 3 or not word.endswith(base):
        return False
    return word[: len(word) - len(base)].rstrip("-") in _PREFIXES


def _poles(first: str, second: str) -> bool:
    for left, right in _POLES:
        for one, other in ((left, right), (right, left)):
            if first.startswith(one) and second.startswith(other):
                stem = first[len(one) :].lstrip("-")
                if len(stem) >= 3 and stem == second[len(other) :].lstrip("-"):
                    return True
    return False


def _suffixes(first: str, second: str) -> bool:
    for left, right in _TWINS:
        for one, other in ((left, right), (right, left)):
            if (
                first.endswith(one)
                and second.endswith(other)
                and len(first) > len(one) + 2
                and first[: -len(one)] == second[: -len(other)]
            ):
                return True
    return any(second == first + ending or first == second + ending for ending in ("less", "-free"))
