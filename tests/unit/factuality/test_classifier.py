"""The transformers classifier behind SummaC and FactCC, on a tiny random model."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

from monitor.errors import MalformedInput, ModelUnavailable
from monitor.factuality.classifier import PairClassifier, load_classifier
from monitor.factuality.summac import SummacZeroShot

WORDS = ["the", "dog", "cat", "slept", "ran", "far"]
NAMES = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}


def save(folder, model_class, **options):
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        initializer_range=2.0,
        **options,
    )
    model_class(config).save_pretrained(folder)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(
        tmp_path_factory.mktemp("nli"), BertForSequenceClassification, id2label=NAMES, num_labels=3
    )


@pytest.fixture(scope="module")
def classifier(folder):
    return load_classifier(str(folder), key="factuality.summac", batch_size=2)


PAIRS = [
    ("the dog slept", "the dog ran"),
    ("the cat", "far"),
    ("the dog ran far the cat slept", "the cat slept"),
    ("dog", "cat"),
    ("the the the the", "slept"),
]


def test_labels_and_room_come_from_the_model(classifier):
    """32 positions minus [CLS] and two [SEP]; labels in the order of the outputs."""
    assert classifier.room == 29
    assert classifier.labels == ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
    assert classifier.tokens("the dog slept") == 3


def test_batched_probabilities_equal_one_at_a_time(folder, classifier):
    """Padding and sorting must not show; the reference is the model itself, pair by pair."""
    model = BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    with torch.inference_mode():
        expected = [
            model(**tokenizer(*pair, return_tensors="pt")).logits.softmax(-1).numpy()[0]
            for pair in PAIRS
        ]
    assert np.ptp(expected, axis=0).max() > 0.05
    np.testing.assert_allclose(classifier.probabilities(PAIRS), expected, atol=1e-5)


def test_no_pairs_no_rows(classifier):
    """An empty batch is none of the model's business."""
    assert classifier.probabilities([]).shape == (0, 3)


def test_pair_beyond_the_models_limit_is_refused(classifier):
    """Never cut silently."""
    with pytest.raises(MalformedInput, match="33 tokens, the model reads 32"):
        classifier.probabilities([("the " * 29, "dog")])


def test_summac_runs_on_a_real_model_and_a_long_document(classifier):
    """Forty words in one sentence do not fit into 29 tokens and are read in pieces."""
    check = SummacZeroShot(classifier, lambda texts: [[text] for text in texts])
    (score,) = check.check([("the dog slept far " * 10, "the cat ran")])
    assert -1.0 <= score.value <= 1.0
    assert score.reason is None


def test_missing_folder_is_unavailable_naming_the_setting(tmp_path):
    """Exit code 3 and the key to correct."""
    with pytest.raises(ModelUnavailable, match=r"factuality\.summac: '.*nowhere'"):
        load_classifier(str(tmp_path / "nowhere"), key="factuality.summac")


def test_model_without_a_trained_head_is_refused(tmp_path):
    """transformers would draw the head at random and answer with noise."""
    save(tmp_path, BertModel)
    with pytest.raises(ModelUnavailable, match="trained for classification"):
        load_classifier(str(tmp_path), key="factuality.factcc")


def test_pickled_weights_are_not_read(folder, tmp_path):
    """Safetensors only: a pickle can run code."""
    model = BertForSequenceClassification.from_pretrained(folder)
    model.config.save_pretrained(tmp_path)
    BertTokenizerFast.from_pretrained(folder).save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable):
        load_classifier(str(tmp_path), key="factuality.factcc")


def test_large_batches_give_the_same_rows(classifier):
    """Neither a row's place nor its neighbours may change it."""
    assert isinstance(classifier, PairClassifier)
    many = classifier.probabilities(PAIRS * 20)
    np.testing.assert_allclose(many[:5], many[-5:], atol=1e-6)
