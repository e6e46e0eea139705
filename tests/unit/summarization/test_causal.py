"""Decoder-only models, on a tiny Llama that the tests save."""

from __future__ import annotations

import pytest

from monitor.errors import ConfigurationError
from monitor.records import Reason
from monitor.summarization.causal import CausalSummarizer

PROMPT = "Text: {document}\nSummary:"


def causal_model(**given):
    return CausalSummarizer(
        **{
            "prompt": PROMPT,
            "num_beams": 1,
            "max_new_tokens": 8,
            "batch_size": 16,
            "too_long": "truncate",
            "time_limit": 60,
            **given,
        }
    )


@pytest.fixture(scope="module")
def causal(tiny_llama):
    return causal_model(model=str(tiny_llama), prompt=PROMPT, max_new_tokens=8)


def test_summaries_equal_those_of_transformers(causal, tiny_llama, tasks):
    """Left padding must not change what a shorter prompt of the batch gives."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_llama).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    documents = ["The bridge is closed.", "Ferries carry many commuters to the shore.", "Yes."]
    expected = []
    for document in documents:
        ids = tokenizer(PROMPT.replace("{document}", document), return_tensors="pt")["input_ids"]
        row = model.generate(ids, do_sample=False, max_new_tokens=8, pad_token_id=2)[0]
        expected.append(tokenizer.decode(row[ids.shape[1] :], skip_special_tokens=True).strip())
    assert [answer.text for answer in causal.summarize(tasks(*documents))] == expected


def test_k_documents_take_one_generate(causal, tasks, monkeypatch):
    """As with encoder–decoder models."""
    calls = []
    original = causal.loaded.model.generate

    def generate(**arguments):
        calls.append(arguments["input_ids"].shape[0])
        return original(**arguments)

    monkeypatch.setattr(causal.loaded.model, "generate", generate)
    causal.summarize(tasks(*[f"Document {k}." for k in range(8)]))
    assert calls == [8]


def test_the_answer_does_not_repeat_the_prompt(causal, tasks):
    """A causal model's row begins with it."""
    answer = causal.summarize(tasks("The bridge is closed."))[0]
    assert "bridge is closed" not in answer.text
    assert answer.completion_tokens <= 8


def test_a_long_document_is_cut_but_the_prompt_is_not(causal, tasks, news, monkeypatch):
    """128 tokens of context minus 8 of answer; `Summary:` still stands at the end."""
    seen = []
    original = causal.loaded.tokenizer.__class__.__call__

    def spy(self, text, *rest, **options):
        if isinstance(text, list):
            seen.extend(text)
        return original(self, text, *rest, **options)

    monkeypatch.setattr(causal.loaded.tokenizer.__class__, "__call__", spy)
    answer = causal.summarize(tasks(news * 3))[0]
    assert answer.truncated
    assert 110 < answer.prompt_tokens <= 120
    assert seen[0].startswith("Text: The harbour bridge")
    assert seen[0].endswith("\nSummary:")


def test_skip_is_recorded(tiny_llama, tasks, news):
    """As `too_long`, without a call."""
    summarizer = causal_model(model=str(tiny_llama), max_new_tokens=8, too_long="skip")
    assert summarizer.summarize(tasks(news * 3))[0].reason is Reason.TOO_LONG


def test_a_chat_template_is_used_where_there_is_one(tiny_llama, tmp_path, tasks):
    """Instruct models answer badly to a bare prompt."""
    import shutil

    folder = tmp_path / "chat"
    shutil.copytree(tiny_llama, folder)
    template = "{% for m in messages %}<s>[{{ m.role }}] {{ m.content }}{% endfor %} [answer]"
    (folder / "chat_template.jinja").write_text(template)
    summarizer = causal_model(model=str(folder), prompt=PROMPT, max_new_tokens=4)
    assert summarizer.render("Hello.") == "<s>[user] Text: Hello.\nSummary: [answer]"
    answer = summarizer.summarize(tasks("Hello."))[0]
    ids = summarizer.loaded.tokenizer(summarizer.render("Hello."), add_special_tokens=False)
    assert answer.prompt_tokens == len(ids["input_ids"])
    bare = causal_model(model=str(folder), prompt=PROMPT, max_new_tokens=4, chat_template=False)
    assert bare.render("Hello.") == "Text: Hello.\nSummary:"
    assert bare.name != summarizer.name


def test_an_answer_longer_than_the_context_is_refused(tiny_llama):
    """No room would be left for a document."""
    with pytest.raises(ConfigurationError, match="max_new_tokens"):
        causal_model(model=str(tiny_llama), max_new_tokens=128)


def test_the_time_limit_ends_a_generation(tiny_llama, tasks):
    """As with encoder–decoder models."""
    summarizer = causal_model(model=str(tiny_llama), max_new_tokens=60, time_limit=1e-9)
    assert summarizer.summarize(tasks("Text."))[0].reason is Reason.SUMMARIZER_TIMEOUT
