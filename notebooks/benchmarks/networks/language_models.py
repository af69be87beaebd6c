"""Transformers for texts, from configuration, with random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import (
    BertConfig,
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from notebooks.benchmarks.networks.synthetic import masked_texts, sentences, texts, translations

if TYPE_CHECKING:
    from torch import nn
    from torch.utils.data import Dataset

_SMALL_VOCABULARY = 8192
_MASK = 4

Made = tuple["nn.Module", "Dataset[Any]", int]
"""A network, its data and a batch size."""

_Shape = dict[str, Any]


def language_model(name: str, *, small: bool, dropout: float) -> Made:
    """Return a network, its data and a batch size.

    Args:
        name: ``distilbert``, ``bert``, ``gpt2``, ``t5``, ``roberta`` or ``xlm_roberta``.
        small: Four layers of width 512 (T5: 256), 64 tokens, 8,192 words. Else as published,
            and 128 tokens.
        dropout: Probability, wherever the network has dropout.
    """
    make = {
        "distilbert": _distilbert,
        "bert": _bert,
        "gpt2": _gpt2,
        "t5": _t5,
        "roberta": _roberta,
        "xlm_roberta": _xlm_roberta,
    }[name]
    return make(small, dropout)


def _distilbert(small: bool, dropout: float) -> Made:  # noqa: FBT001  one of six alike
    """Return DistilBERT as a classifier of sentences (Sanh et al., 2019)."""
    vocabulary, length = _lengths(small, 30522)
    shape: _Shape = (
        {"dim": 512, "hidden_dim": 2048, "n_heads": 8, "n_layers": 4} if small else {}
    )
    config = DistilBertConfig(
        vocab_size=vocabulary,
        dropout=dropout,
        attention_dropout=dropout,
        seq_classif_dropout=dropout,
        **shape,
    )
    model = DistilBertForSequenceClassification(config)
    return model, sentences(vocabulary=vocabulary, length=length, classes=2), 8


def _bert(small: bool, dropout: float) -> Made:  # noqa: FBT001  one of six alike
    """Return BERT that fills masks in (Devlin et al., 2018)."""
    vocabulary, length = _lengths(small, 30522)
    config = BertConfig(vocab_size=vocabulary, **_encoder(small, dropout))
    data = masked_texts(vocabulary=vocabulary, length=length, mask_token=_MASK)
    return BertForMaskedLM(config), data, 4


def _roberta(small: bool, dropout: float) -> Made:  # noqa: FBT001  one of six alike
    """Return RoBERTa that fills masks in (Liu et al., 2019)."""
    vocabulary, length = _lengths(small, 50265)
    config = RobertaConfig(
        vocab_size=vocabulary, max_position_embeddings=514, **_encoder(small, dropout)
    )
    data = masked_texts(vocabulary=vocabulary, length=length, mask_token=_MASK)
    return RobertaForMaskedLM(config), data, 4


def _xlm_roberta(small: bool, dropout: float) -> Made:  # noqa: FBT001  one of six alike
    """Return XLM-RoBERTa as a classifier of sentences (Conneau et al., 2019)."""
    vocabulary, length = _lengths(small, 250002)
    config = XLMRobertaConfig(
        vocab_size=vocabulary, max_position_embeddings=514, **_encoder(small, dropout)
    )
    model = XLMRobertaForSequenceClassification(config)
    return model, sentences(vocabulary=vocabulary, length=length, classes=2), 8


def _gpt2(small: bool, dropout: float) -> Made:  # noqa: FBT001  one of six alike
    """Return GPT-2 (Radford et al., 2019)."""
    vocabulary, length = _lengths(small, 50257)
    shape: _Shape = {"n_embd": 512, "n_head": 8, "n_layer": 4} if small else {}
    config = GPT2Config(
        vocab_size=vocabulary,
        bos_token_id=0,
        eos_token_id=0,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        resid_pdrop=dropout,
        use_cache=False,
        **shape,
    )
    return GPT2LMHeadModel(config), texts(vocabulary=vocabulary, length=length), 4


def _t5(small: bool, dropout: float) -> Made:  # noqa: FBT001  one of six alike
    """Return T5-small (Raffel et al., 2019)."""
    vocabulary, length = _lengths(small, 32128)
    shape: _Shape = {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8}
    if small:
        shape = {"d_model": 256, "d_ff": 1024, "num_layers": 4, "num_heads": 4}
    shape["decoder_start_token_id"] = 0
    config = T5Config(
        vocab_size=vocabulary,
        dropout_rate=dropout,
        use_cache=False,
        **shape,
    )
    data = translations(vocabulary=vocabulary, length=length, target_length=length // 4)
    return T5ForConditionalGeneration(config), data, 8


def _lengths(small: bool, vocabulary: int) -> tuple[int, int]:  # noqa: FBT001  as its callers
    """Return the number of words in the vocabulary, and of tokens in a sample."""
    return (_SMALL_VOCABULARY, 64) if small else (vocabulary, 128)


def _encoder(small: bool, dropout: float) -> dict[str, Any]:  # noqa: FBT001  as its callers
    """Return what BERT and its followers call the same."""
    shape: _Shape = {
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": 4,
    }
    return {
        "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout,
        **(shape if small else {}),
    }
