"""Encoder–decoder models, on a tiny BART that the tests save."""

from __future__ import annotations

import shutil

import pytest
import torch

from monitor.errors import ConfigurationError, ModelUnavailable
from monitor.records import Reason
from monitor.summarization.seq2seq import Seq2SeqSummarizer


def seq2seq(**given):
    return Seq2SeqSummarizer(
        **{
            "num_beams": 1,
            "max_new_tokens": 12,
            "batch_size": 16,
            "too_long": "truncate",
            "time_limit": 60,
            **given,
        }
    )


@pytest.fixture(scope="module")
def greedy(tiny_bart):
    return seq2seq(model=str(tiny_bart), num_beams=1, max_new_tokens=12)


def counted(summarizer, monkeypatch):
    """The number of rows of every generate call."""
    calls = []
    model = summarizer.loaded.model
    original = model.generate

    def generate(**arguments):
        calls.append(arguments["input_ids"].shape[0])
        return original(**arguments)

    monkeypatch.setattr(model, "generate", generate)
    return calls


def test_k_documents_take_one_generate(greedy, tasks, monkeypatch):
    """Batching is what makes K re-summaries affordable."""
    calls = counted(greedy, monkeypatch)
    answers = greedy.summarize(tasks(*[f"Document number {k}." for k in range(8)]))
    assert calls == [8]
    assert all(answer.text for answer in answers)


def test_more_documents_than_a_batch_take_several(tiny_bart, tasks, monkeypatch):
    """Memory is bounded by the batch."""
    summarizer = seq2seq(model=str(tiny_bart), num_beams=1, max_new_tokens=4, batch_size=3)
    calls = counted(summarizer, monkeypatch)
    assert len(summarizer.summarize(tasks(*["A text."] * 7))) == 7
    assert calls == [3, 3, 1]


@pytest.mark.parametrize("beams", [1, 4])
def test_summaries_equal_those_of_transformers(tiny_bart, tasks, news, beams):
    """Greedy and beam search, against the library called by hand, one at a time."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    model = AutoModelForSeq2SeqLM.from_pretrained(tiny_bart).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_bart)
    documents = ["The bridge is closed.", news[:60], "Ferries carry commuters."]
    expected = []
    for document in documents:
        ids = tokenizer(document, return_tensors="pt")["input_ids"]
        row = model.generate(ids, num_beams=beams, do_sample=False, max_new_tokens=12)[0]
        expected.append(tokenizer.decode(row, skip_special_tokens=True).strip())
    summarizer = seq2seq(model=str(tiny_bart), num_beams=beams, max_new_tokens=12)
    assert [answer.text for answer in summarizer.summarize(tasks(*documents))] == expected


def test_greedy_and_beam_search_differ(tiny_bart, tasks, news):
    """Else `num_beams` would not arrive."""
    texts = [
        seq2seq(model=str(tiny_bart), num_beams=beams, max_new_tokens=24).summarize(
            tasks(news, news[100:], news[200:])
        )
        for beams in (1, 5)
    ]
    assert [answer.text for answer in texts[0]] != [answer.text for answer in texts[1]]


def test_the_same_batch_gives_the_same_summaries(greedy, tasks, news):
    """It says that it is deterministic."""
    assert greedy.deterministic
    runs = [[answer.text for answer in greedy.summarize(tasks(news, "Short."))] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_long_document_is_cut_and_recorded(greedy, tasks, news):
    """64 tokens is what the model takes, special ones included."""
    short, long = greedy.summarize(tasks("Short.", news))
    assert (short.truncated, long.truncated) == (False, True)
    assert long.prompt_tokens == 64
    assert long.text


def test_a_long_document_is_skipped_where_the_policy_says_so(tiny_bart, tasks, news):
    """The others of its batch are not touched by it."""
    summarizer = seq2seq(model=str(tiny_bart), num_beams=1, max_new_tokens=8, too_long="skip")
    short, long = summarizer.summarize(tasks("Short.", news))
    assert short.text
    assert (long.text, long.reason) == (None, Reason.TOO_LONG)
    assert "64 tokens" in long.detail


def test_tokens_are_counted(greedy, tasks):
    """<s> and </s> belong to the prompt; the decoder's start does not to the answer."""
    tokenizer = greedy.loaded.tokenizer
    answer = greedy.summarize(tasks("Short."))[0]
    assert answer.prompt_tokens == len(tokenizer("Short.")["input_ids"])
    assert 1 <= answer.completion_tokens <= 12
    assert answer.seconds > 0


@pytest.mark.parametrize("beams", [1, 4])
def test_the_time_limit_ends_a_generation(tiny_bart, tasks, beams):
    """Half a summary would be compared as if the model had meant to end there."""
    summarizer = seq2seq(model=str(tiny_bart), num_beams=beams, max_new_tokens=60, time_limit=1e-9)
    answer = summarizer.summarize(tasks("The bridge."))[0]
    assert (answer.text, answer.reason) == (None, Reason.SUMMARIZER_TIMEOUT)
    assert answer.completion_tokens < 10


def test_an_empty_document_is_not_sent_through_the_model(greedy, tasks, monkeypatch):
    """A model writes something for nothing, too."""
    calls = counted(greedy, monkeypatch)
    answers = greedy.summarize(tasks("", " \n"))
    assert [answer.reason for answer in answers] == [Reason.EMPTY_DOCUMENT] * 2
    assert calls == []


def test_a_failing_generation_is_an_answer_not_an_exception(greedy, tasks, monkeypatch):
    """Out of memory on one batch must not kill the scorer."""

    def fail(**_):
        raise RuntimeError("out of memory while handling: a document's text")

    monkeypatch.setattr(greedy.loaded.model, "generate", fail)
    answer = greedy.summarize(tasks("Short."))[0]
    assert answer.reason is Reason.SUMMARIZER_ERROR
    assert "document's text" not in answer.detail


def test_weights_are_float32_and_only_read(greedy):
    """bfloat16 is hundreds of times slower on most CPUs."""
    assert greedy.loaded.model.dtype == torch.float32
    assert not greedy.loaded.model.training


def test_half_precision_on_a_cpu_is_refused(tiny_bart):
    """It would run, and never end."""
    with pytest.raises(ConfigurationError, match="dtype"):
        seq2seq(model=str(tiny_bart), dtype="bfloat16")


def test_a_missing_folder_is_unavailable_and_named():
    """Nothing is looked up on a hub."""
    with pytest.raises(ModelUnavailable, match="no/such/model"):
        seq2seq(model="no/such/model")


def test_pickled_weights_are_not_read(tiny_bart, tmp_path):
    """A pickle can run code; only safetensors are opened."""
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_bart, folder)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="safetensors"):
        seq2seq(model=str(folder))


def test_code_in_a_model_folder_is_not_run(tiny_bart, tmp_path):
    """`auto_map` asks for it; the marker file would be its trace."""
    import json

    folder = tmp_path / "coded"
    shutil.copytree(tiny_bart, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "unheard-of", "auto_map": {"AutoConfig": "evil.Config"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: ...\n")
    with pytest.raises(ModelUnavailable):
        seq2seq(model=str(folder))
    assert not (tmp_path / "ran").exists()


def test_generation_parameters_come_by_keyword(tiny_bart, tasks):
    """And make another summarizer, with another name."""
    plain = seq2seq(model=str(tiny_bart), num_beams=1, max_new_tokens=8)
    longer = seq2seq(model=str(tiny_bart), num_beams=1, max_new_tokens=8, min_new_tokens=8)
    assert longer.summarize(tasks("Short."))[0].completion_tokens == 8
    assert plain.name != longer.name


def test_sampling_is_not_deterministic(tiny_bart):
    """It says so, and then gets as many null runs as a served model."""
    assert not seq2seq(model=str(tiny_bart), num_beams=1, do_sample=True).deterministic


def test_the_name_does_not_tell_where_the_model_lies(tiny_bart, tmp_path):
    """A calibration travels with the model."""
    copy = tmp_path / tiny_bart.name
    shutil.copytree(tiny_bart, copy)
    names = {seq2seq(model=str(folder)).name for folder in (tiny_bart, copy)}
    assert len(names) == 1
    assert str(tmp_path) not in names.pop()


@pytest.mark.parametrize("document", ["🙂🙂", "مرحبا بالعالم", "a\x00b", "half \ud83d", "x" * 9000])
def test_odd_documents_give_a_text_or_a_reason(greedy, tasks, document):
    """No crash, whatever comes in."""
    answer = greedy.summarize(tasks(document))[0]
    assert (answer.text is None) != (answer.reason is None)
