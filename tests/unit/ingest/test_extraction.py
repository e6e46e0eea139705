"""Where the document stands in a prompt."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import ConfigurationError
from monitor.ingest.extraction import Extraction
from monitor.ingest.instructions import is_instruction, without_instructions
from monitor.records import Message, Reason

DOCUMENT = "Woodland searched\n\nA man was found in Dublin.\nHe was alive.\n\nPolice said so."


def _messages(*turns: tuple[str, str]) -> tuple[Message, ...]:
    return tuple(Message(role=role, content=content) for role, content in turns)


@pytest.mark.parametrize(
    "prompt",
    [
        "{}",
        "Summarise the following article.\n\n{}",
        "Summarise the following article.\r\n\r\n{}",
        "Summarize this:\n{}",
        "Please summarize this article in two sentences: {}",
        "Summarise the article.\nUse at most three sentences.\n\n{}",
        "Summarise the article.\n\nArticle:\n{}\n\nSummary:",
        "Document: {}\nSummary:",
        "{}\n\nTL;DR:",
        "{}\n\nSummarize the text above in two sentences.",
        "Write a short summary.\n\n{}\n\nUse no more than 40 words.",
        "Summarize the text between the tags.\n\n<article>\n{}\n</article>",
        'Summarize the text:\n"""\n{}\n"""',
        "# Task\nSummarize the document.\n\n# Document\n{}",
        "Text to summarize:\n\n{}",
        "### Instruction:\nSummarize.\n\n### Input:\n{}\n\n### Response:",
        "Fasse den folgenden Artikel zusammen.\n\n{}",
    ],
)
def test_instructions_around_the_document_are_cut_off(prompt: str) -> None:
    """The document is what is reworded; headline and paragraphs stay its own."""
    assert without_instructions(prompt.format(DOCUMENT)) == DOCUMENT


@pytest.mark.parametrize(
    "paragraph",
    [
        "Gardaí search woodland for missing man",
        "In 2000, the report said, a man went missing.",
        "Use of force by police has risen, the report said.",
        "Summary judgment was granted to the plaintiff on Monday.",
        "Give and take marked the talks on the story of the year.",
        "The following day he was seen on Haddington Road.",
        "Read my lips, he said. No new taxes.",
        "Now the article of faith is tested.",
    ],
)
def test_paragraphs_of_a_document_are_no_instructions(paragraph: str) -> None:
    """Cutting off a part of the document is the worse mistake."""
    assert not is_instruction(paragraph)
    assert without_instructions(f"{paragraph}\n\n{DOCUMENT}") == f"{paragraph}\n\n{DOCUMENT}"


PARAGRAPH = (
    "A search of a site in Dublin started early on Saturday morning. Police said that it would "
    "take several weeks: it asked people who live there to keep their dogs out of the woodland."
)


@pytest.mark.parametrize("text", [PARAGRAPH, f"{PARAGRAPH} {PARAGRAPH}\n\n{PARAGRAPH}"])
@pytest.mark.parametrize(
    "instruction",
    [
        "Summarize the following text.",
        "Provide a concise summary of this document:",
        "You are an editor. Write a summary of two sentences:",
        "You are an editor. Summarize the text. Use at most two sentences.",
    ],
)
def test_an_instruction_in_the_paragraph_of_the_text_is_cut_off(
    instruction: str, text: str
) -> None:
    """A short text would count as a part of its instruction, and a long one be reworded with it."""
    assert without_instructions(f"{instruction} {text}") == text


@pytest.mark.parametrize(
    "start",
    [
        "A storm came on Monday. In one day the following towns were flooded: Cork and Tralee.",
        "In two weeks the following teams meet in the last round.",
        "The minister resigned. Please give a short summary of your letter, a reporter asked.",
        "Police made an arrest. Read the following statement, they said.",
    ],
)
def test_a_sentence_of_the_text_that_reads_like_a_request_cuts_nothing_off(start: str) -> None:
    """What comes before it is the document's, and would be lost."""
    assert without_instructions(f"{start} {PARAGRAPH}") == f"{start} {PARAGRAPH}"


def test_an_instruction_ends_where_the_text_begins() -> None:
    """A request that the text tells of, further on, is a part of it."""
    text = f"The minister resigned. Give a short summary of it, a reporter asked. {PARAGRAPH}"
    assert without_instructions(f"Summarize this text. {text}") == text


@pytest.mark.parametrize(
    "message",
    [
        "Summarize the text above. Keep the names as they are.",
        "Summarize it in two sentences. Do not speculate, and keep to what the people in it say.",
        "Summarize the article above. " + "Name everybody who is quoted, and mind the order. " * 4,
        "Summarize the article in 60 words. Do not add anything that it does not say. Write in a "
        "neutral tone, keep names and numbers exactly as they are given, and avoid opinions of "
        "your own. Return only the summary.",
    ],
)
def test_remarks_behind_an_instruction_are_no_document(message: str) -> None:
    """The document stands in an earlier message then."""
    assert without_instructions(message) is None


_PIECES = [
    "Summarise this text.",
    "Summarise:",
    "Article:",
    "# Text",
    "Summary:",
    "A man was found. ",
    "\n\n",
    "\n",
    " ",
    '"""',
    "'''",
    "```",
    "###",
    "---",
    "<article>",
    "</article>",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=8).map("".join) | st.text(max_size=40))
def test_what_is_found_stands_in_the_prompt(prompt: str) -> None:
    """A replay replaces the document where it stands, so it must stand there literally."""
    found = without_instructions(prompt)
    assert found is None or found in prompt


def test_instructions_alone_send_the_search_back() -> None:
    """Some clients send the document and the request for a summary as two messages."""
    messages = _messages(("user", DOCUMENT), ("user", "Summarise the text above."))

    assert Extraction().document(messages) == DOCUMENT


def test_a_turn_of_the_model_after_the_document_is_a_reason() -> None:
    """A replay of a later turn would not ask for a summary of the document."""
    messages = _messages(
        ("user", DOCUMENT), ("assistant", "Man found."), ("user", "Make it shorter, please.")
    )
    assert Extraction().document(messages) is Reason.DOCUMENT_NOT_LAST
    after = _messages(("user", DOCUMENT), ("assistant", "Man found."))
    assert Extraction().document(after) is Reason.DOCUMENT_NOT_LAST


def test_examples_before_the_document_do_no_harm() -> None:
    """Few-shot prompts hold turns of the model that are not about this document."""
    messages = _messages(
        ("user", "An example text."), ("assistant", "Example."), ("user", DOCUMENT)
    )
    assert Extraction().document(messages) == DOCUMENT


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ((), Reason.DOCUMENT_NOT_FOUND),
        (_messages(("system", DOCUMENT)), Reason.DOCUMENT_NOT_FOUND),
        (_messages(("user", "Summarise this text.")), Reason.DOCUMENT_NOT_FOUND),
        (_messages(("user", "  \n ")), Reason.EMPTY_DOCUMENT),
    ],
)
def test_without_a_document_there_is_a_reason(
    messages: tuple[Message, ...], reason: Reason
) -> None:
    """Nothing is scored on a guess."""
    assert Extraction().document(messages) is reason


def test_a_pattern_marks_the_document() -> None:
    """Over several lines, and in any message that the model did not write."""
    extraction = Extraction(rule="regex", pattern=r"BEGIN(?P<document>.*)END")

    assert extraction.document(_messages(("system", f"BEGIN\n{DOCUMENT}\nEND"))) == DOCUMENT
    assert extraction.document(_messages(("user", "none"))) is Reason.DOCUMENT_NOT_FOUND
    assert extraction.document(_messages(("user", "BEGIN END"))) is Reason.EMPTY_DOCUMENT


def test_delimiters_are_searched_from_the_back() -> None:
    """Instructions often name the delimiters before they are used."""
    extraction = Extraction(rule="delimiters", begin="<doc>", end="</doc>")
    prompt = f"Summarise what is between <doc> and </doc>.\n<doc>{DOCUMENT}</doc>\nThank you."

    assert extraction.document(_messages(("user", prompt))) == DOCUMENT
    same = Extraction(rule="delimiters", begin='"""', end='"""')
    assert same.document(_messages(("user", f'Text: """{DOCUMENT}"""'))) == DOCUMENT


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"rule": "magic"}, "ingest.extraction.rule is 'magic'"),
        ({"rule": "regex", "pattern": "("}, "ingest.extraction.pattern is '('"),
        ({"rule": "regex", "pattern": "a"}, "mark the document in it as (?P<document>"),
        ({"rule": "delimiters", "begin": "a"}, "ingest.extraction.end is empty"),
    ],
)
def test_a_wrong_rule_names_its_key(rule: dict[str, str], told: str) -> None:
    """The message says what to change in the configuration."""
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        Extraction(**rule)
