"""Telling the instructions of a summarization prompt from the document.

A paragraph or line counts as an instruction when it is short, opens like a request
("Please summarise …", "Use at most three sentences.") and speaks of the task or of the
text. Everything else is left alone: cutting off a paragraph of the document is the worse
mistake, since an instruction that stays merely takes part in the perturbation. Headlines
therefore stay. The words are English, with the commonest German, French and Spanish ones;
for other prompts there are the rules `regex` and `delimiters`.
"""

from __future__ import annotations

import re

_LONGEST_INSTRUCTION = 80  # words
_WINDOW = 2_000  # characters at either end that are looked at
_MOST_CUTS = 8  # instructions and labels at either end
_SHORT_REMARK = 6  # words

_COURTESY = r"""^\W*(?:(?:please|kindly|now|then|also|first|your\ (?:task|job|goal)\ is\ to|
    i(?:\ want|\ need|\ would\ like|['’]d\ like)\ you\ to|(?:can|could|would|will)\ you|
    (?:task|instructions?)\ ?:|bitte|veuillez|por\ favor)[\s,]+)*"""
_ASKS_FOR_SUMMARY = re.compile(
    _COURTESY
    + r"""(?:(?:summari[sz]e|sum\ up|condense|shorten|abridge|tl;?\ ?dr|résumez|résumer|
    resum[ai]r?|zusammenfassen|fasse?n?\ (?:sie\ )?(?:den|die|das|diesen|folgenden?)|
    you\ (?:are|will|must)\b.{1,400}\b(?:summar\w+|condense|shorten))\b|
    (?:the\ following|below|here)\ is\ (?:an?|the)\ (?:\w+\ )?
    (?:article|text|document|passage|story|report|transcript|conversation|email)\b)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_ASKS_FOR_SOMETHING = re.compile(
    _COURTESY
    + r"""(?:write|give|provide|create|produce|generate|make|draft|compose|prepare|read|
    analy[sz]e|extract|describe|reduce|compress|paraphrase|rewrite|turn|keep|use|focus|include|
    avoid|answer|respond|reply|return|output|limit|be|do\ not|don['’]t|no\ more\ than|
    in\ (?:(?:at\ most|no\ more\ than)\ )?(?:one|two|three|four|five|a\ few|\d{1,3})\ (?:\w+\ )?
    (?:sentences?|words?|paragraphs?|bullets?|lines?|(?:bullet\ |key\ )?points?)|
    what\ (?:is|are)\ the|schreiben?|erstellen?|kürzen?|rédigez|escrib[ae])\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_A_TEXT = re.compile(
    r"""\b(?:summar\w+|tl;?\ ?dr|key\ points|bullet\ points|takeaways|concise(?:ly)?|shorter|
    (?:be|it)\ brief|briefly|(?:\d+|one|two|three|four|five|six|ten|few|short|brief|single|
    plain|complete|more)[ ](?:\w+\ )?(?:sentences?|words?|paragraphs?|bullets?|lines)|
    the\ following|(?:article|text|document|passage)\ (?:above|below|that\ follows)|
    zusammenfassung|sätzen?|résumé|phrases|resumen|oraciones|frases)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\r?\n[ \t]*)+")
_LABEL = re.compile(
    r"""^(?:\W{0,4}(?:article|text|document|content|input|passage|story|transcript|source)
    (?:\ to\ (?:summari[sz]e|be\ summari[sz]ed))?\W{0,3}:\W{0,3}?\s+|
    \#{1,6}[ \t]*(?:task|instructions?|article|text|document|content|input)[ \t]*\n\s*)""",
    re.IGNORECASE | re.VERBOSE,
)
_ANSWER_LABEL = re.compile(
    r"\s+\W{0,4}(?:summary|tl;?\ ?dr|answer|output|response)\W{0,3}:?\W{0,3}$", re.IGNORECASE
)
_INLINE = re.compile(
    r"^(?:please[ ]+)?(?:summari[sz]e|tl;?dr|condense|shorten)\b[^:\n.]{0,120}:[ \t]+(?=\S)",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!:][ \t]+(?=\S)")
_LONGEST_BESIDE = 300  # characters
_LEAST_BESIDE = 30  # words
_ELSEWHERE = re.compile(r"\b(?:above|earlier|previous|attached)\b", re.IGNORECASE)
_TO_THE_MODEL = re.compile(r"^\W*(?:you\ (?:are|will|must)|act\ as|hi|hello)\b", re.IGNORECASE)
_NAMES_THE_TASK = re.compile(
    r"""\b(?:summar\w+|sum\ up|tl;?\ ?dr|condense|shorten|abridge|abstract|synopsis|key\ points|
    bullet\ points|takeaways|zusammenfass\w+|fasse?n?|résum\w+|resum\w+)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_FENCES = (
    re.compile(r"^<(?P<tag>[A-Za-z][\w-]{0,40})>(?P<inside>.*)</(?P=tag)>$", re.DOTALL),
    re.compile(r'^(?P<fence>"""|\'\'\'|```|###|---)(?P<inside>.*)(?P=fence)$', re.DOTALL),
)


def is_instruction(text: str) -> bool:
    """Whether a paragraph or line asks for something to be done with a text.

    >>> is_instruction("Summarise the following article.")
    True
    >>> is_instruction("Gardaí search woodland for missing man")
    False
    """
    if len(text) > _WINDOW or len(text.split()) > _LONGEST_INSTRUCTION:
        return False
    if _ASKS_FOR_SUMMARY.search(text):
        return True
    return bool(_ASKS_FOR_SOMETHING.search(text) and _OF_A_TEXT.search(text))


def without_instructions(text: str) -> str | None:
    """The document of a prompt, a literal part of it; `None` for an instruction alone.

    >>> without_instructions("Summarise the following article.\\n\\nA man was found.")
    'A man was found.'
    >>> without_instructions("Make it shorter, please: two sentences.") is None
    True
    """
    # Offsets instead of strings: a prompt may have 16 MiB, and only its ends are looked at.
    start, stop = _stripped(text, 0, len(text))
    if start == stop:
        return ""
    for _ in range(_MOST_CUTS):
        head = text[start : min(stop, start + _WINDOW)]
        cut = _leading(head, ends=start + len(head) == stop)
        start, stop = _stripped(text, start + cut, stop)
        if not cut or start == stop:
            break
    for _ in range(_MOST_CUTS):
        cut = _trailing(text[max(start, stop - _WINDOW) : stop])
        start, stop = _stripped(text, start, stop - cut)
        if not cut or start == stop:
            break
    return _unfenced(text[start:stop]) or None


def _stripped(text: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop


def _leading(head: str, *, ends: bool) -> int:
    """Length of the instruction or label at the start; `ends` if the text ends with `head`."""
    if match := _LABEL.search(head):
        return match.end()
    gap = _PARAGRAPH_END.search(head)
    paragraph = head[: gap.start()] if gap else head if ends else ""
    if match := _INLINE.search(head):
        beside = paragraph[match.end() :]
        # "Summarise this: two sentences." is all instruction, where something follows it;
        # "Summarise: Man found" is followed by a headline.
        remark = len(beside.split()) <= _SHORT_REMARK and _OF_A_TEXT.search(beside)
        return gap.end() if gap and remark else match.end()
    if cut := _beside_its_text(head, paragraph):
        return cut
    line, newline, below = head.partition("\n")
    below = paragraph[len(line) + 1 :]
    if newline and is_instruction(line) and not is_instruction(below):
        return len(line)
    if paragraph and is_instruction(paragraph):
        return gap.end() if gap else len(head)
    return 0


def _beside_its_text(head: str, paragraph: str) -> int:
    """Length of an instruction that shares its paragraph with the text, up to a colon or a stop.

    Only sentences from the start on count: the first one that is neither asked of the model nor
    addressed to it is the document's, whatever comes later. What follows the instruction has to
    be more than a further remark on the task; else the whole paragraph would pass for an
    instruction, and the beginning of the document be lost with it.
    """
    begin, cut = 0, 0
    for stop in _STOP.finditer(head.partition("\n")[0][:_LONGEST_BESIDE]):
        sentence = head[begin : stop.start()]
        if is_instruction(sentence):
            cut = stop.end()
        elif not _TO_THE_MODEL.search(sentence) and not (
            cut and _ASKS_FOR_SOMETHING.search(sentence)
        ):
            break
        begin = stop.end()
    asked, beside = head[:cut], (paragraph or head)[cut:]
    # "In two weeks the following teams meet." asks for nothing.
    if not _NAMES_THE_TASK.search(asked) or _ELSEWHERE.search(asked):
        return 0
    return cut if len(beside.split()) >= _LEAST_BESIDE and not is_instruction(beside) else 0


def _trailing(tail: str) -> int:
    """Length of the instruction or answer label at the end."""
    if match := _ANSWER_LABEL.search(tail, max(0, len(tail) - 40)):
        return len(tail) - match.start()
    start = tail.rfind("\n\n")
    start = max(start, tail.rfind("\r\n\r\n"))
    return len(tail) - start if start >= 0 and is_instruction(tail[start:].strip()) else 0


def _unfenced(text: str) -> str:
    for fence in _FENCES:
        if match := fence.match(text):
            return match.group("inside").strip()
    return text
