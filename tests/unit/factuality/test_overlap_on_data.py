"""False alarms and misses of the support check on real documents."""

import json
import random
from pathlib import Path

import pytest

from monitor.factuality.overlap import NAMED, OverlapCheck

DATA = Path(__file__).parents[4] / "shared" / "data"
FILES = ("frank_valid", "summeval", "summedits", "domains")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside the project")
DOCUMENTS = 40


@pytest.fixture(scope="module")
def copied(language):
    """(document, four of its sentences, parsed) of documents of many kinds."""
    texts = sorted(
        {
            json.loads(line)["document"]
            for name in FILES
            for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        }
    )
    choice = random.Random(20)
    documents = choice.sample(texts, DOCUMENTS)
    pairs = []
    for document, head in zip(
        documents, language.pipe([text[:5000] for text in documents]), strict=True
    ):
        sentences = [each.text.strip() for each in head.sents if len(each) > 5]
        pairs.append((document, " ".join(choice.sample(sentences, min(4, len(sentences))))))
    parsed = language.pipe([summary for _, summary in pairs])
    return [(*pair, doc) for pair, doc in zip(pairs, parsed, strict=True)]


def test_copied_sentences_are_fully_supported(copied, language):
    """A false alarm on an extractive summary would be plain wrong."""
    found = OverlapCheck(language).check([(document, summary) for document, summary, _ in copied])
    assert [fact for each in found for fact in each.unsupported] == []
    facts = sum(each.entities + each.numbers for each in found)
    print(f"{facts} copied names and numbers, none reported")  # noqa: T201 -- a measured figure
    assert sum(each.entities for each in found) > 80
    assert sum(each.numbers for each in found) > 80


def test_swapped_names_are_found(copied, language):
    """A name replaced by one of its kind from another document; the recognizer misses some."""
    choice = random.Random(21)
    pool = [(name, document) for document, _, parsed in copied for name in parsed.ents]
    pairs, places = [], []
    for document, summary, parsed in copied:
        for name in parsed.ents:
            others = [
                other.text
                for other, source in pool
                if other.label_ == name.label_
                and source != document
                and other.text.casefold() not in document.casefold()
            ]
            if name.label_ in NAMED and others:
                new = choice.choice(others)
                swapped = summary[: name.start_char] + new + summary[name.end_char :]
                pairs.append((document, swapped))
                places.append((name.start_char, name.start_char + len(new)))
    hits = [
        any(fact.start < end and fact.start + len(fact.text) > start for fact in each.unsupported)
        for each, (start, end) in zip(OverlapCheck(language).check(pairs), places, strict=True)
    ]
    print(f"{sum(hits)} of {len(hits)} swapped names found")  # noqa: T201 -- a measured figure
    assert len(hits) > 80
    assert sum(hits) / len(hits) >= 0.85
