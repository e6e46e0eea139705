"""A scripted endpoint, a clock that tests move, and tiny models saved to a folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from monitor.records import CapturedRequest, Message, SummaryTask


class MovableClock:
    """Wall and monotonic time in one; sleeping moves it and takes no time."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.now.timestamp()

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.move(seconds)
        await asyncio.sleep(0)


Reply = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


@dataclass
class ScriptedEndpoint:
    """Answers with its replies in turn, the last one for ever; remembers what it was sent."""

    replies: list[Reply]
    seconds: float = 0.0
    """Real time that every answer takes."""
    seen: list[httpx.Request] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    on_call: Callable[[], None] = lambda: None

    def __call__(self) -> httpx.AsyncBaseTransport:
        return httpx.MockTransport(self._answer)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.content) for request in self.seen]

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.on_call()
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.in_flight -= 1
        reply = self.replies[min(len(self.seen), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, httpx.Response):
            return httpx.Response(
                reply.status_code, headers=dict(reply.headers), content=reply.content
            )
        return reply(request)


def completion(
    text: str | None = "A summary.", *, tokens: tuple[int, int] | None = (30, 5), **message: Any
) -> httpx.Response:
    """An OpenAI chat completion with one choice."""
    body: dict[str, Any] = {
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text, **message},
            }
        ]
    }
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return httpx.Response(200, json=body)


def tasks(*documents: str) -> list[SummaryTask]:
    """One task a document, captured in a plain request."""
    return [
        SummaryTask(
            document=document,
            original_document=document,
            request=CapturedRequest(
                messages=(Message(role="user", content=f"Summarise this.\n\n{document}"),),
                model="served-model",
            ),
        )
        for document in documents
    ]


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(name="scripted")
def _scripted() -> type[ScriptedEndpoint]:
    return ScriptedEndpoint


@pytest.fixture(name="completion")
def _completion() -> Callable[..., httpx.Response]:
    return completion


@pytest.fixture(name="tasks")
def _tasks() -> Callable[..., list[SummaryTask]]:
    return tasks


@pytest.fixture
def news() -> str:
    """Five sentences; longer than 64 tokens of the tiny models."""
    return NEWS


NEWS = (
    "The harbour bridge was closed on Monday after engineers found a crack in a main cable. "
    "Mayor Anna Lindqvist said that repairs would take at least six weeks. "
    "Ferries will carry commuters across the harbour until the bridge opens again. "
    "Shops on the northern shore fear that they will lose many of their customers. "
    "The bridge was built in 1962 and carries 40,000 cars a day."
)


def _train_tokenizer(texts: Sequence[str], *, closing: bool, limit: int) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>" if closing else "<s> $A",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>" if closing else None,
        unk_token="<unk>",
        model_max_length=limit,
    )


@pytest.fixture(scope="session")
def tiny_bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BART of two layers that takes 64 tokens, with random but fixed weights."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    folder = tmp_path_factory.mktemp("models") / "tiny-bart"
    tokenizer = _train_tokenizer([NEWS], closing=True, limit=64)
    torch.manual_seed(3)
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            max_position_embeddings=64,
            init_std=1.0,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of one layer with a context of 128 tokens and no padding token of its own."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    tokenizer = _train_tokenizer([NEWS], closing=False, limit=128)
    torch.manual_seed(5)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=128,
            initializer_range=1.0,
            bos_token_id=0,
            eos_token_id=2,
            pad_token_id=None,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
