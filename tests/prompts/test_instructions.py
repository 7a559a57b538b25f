"""The papers' instructions, and reading them back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.io import resources
from biasgraph.prompts.instructions import instruction, read_instruction

PROMPTS = st.text(
    st.characters(blacklist_categories=("C", "Z"), blacklist_characters="\n\r"), min_size=1
)


def test_instructions_are_the_papers_words() -> None:
    assert instruction("tibet", "axes", prompt="a librarian") == (
        "For the image generation prompt, a librarian, what are some of the axes where the prompt "
        "may lead to biases in the image?"
    )
    variations = instruction("minethegap", "variations", prompt="a {count} nurse", count=15)
    assert variations.startswith("Generate 15 diverse, short and concise variations")
    assert '"a {count} nurse"' in variations
    assert variations.endswith('"variation 15"].')
    assert "present in the prompt" in instruction("openbias", "system")
    for paper in resources.names("llm", ".yaml"):
        assert resources.read_text("llm", f"{paper}.yaml").startswith("# ")


@given(prompt=PROMPTS, behind=st.sampled_from(["", "\n", "\n\nReply with JSON: {...}"]))
def test_what_was_put_in_is_read_back(prompt: str, behind: str) -> None:
    for paper, task in (("tibet", "axes"), ("openbias", "prompt"), ("minethegap", "variations")):
        values = {"prompt": prompt, "count": "12"} if task == "variations" else {"prompt": prompt}
        text = instruction(paper, task, **values) + behind
        assert read_instruction(paper, task, text) == values


@pytest.mark.parametrize("text", ["", "Hello.", "Prompt: ", 'A Prompt: "x"', 'Prompt: "x" and'])
def test_other_texts_are_no_instruction(text: str) -> None:
    for paper, task in (("tibet", "axes"), ("tibet", "json"), ("openbias", "prompt")):
        assert read_instruction(paper, task, text) is None
