"""YAML that people wrote by hand: what cannot be read is told in a line."""

from __future__ import annotations

import pytest

from biasgraph.errors import InputError
from biasgraph.io.yaml_files import MAX_KEY, parse_yaml


@pytest.mark.parametrize("value", ["!!bool x", "!!timestamp x", "!!int x", "!!float x", "!!map []"])
def test_a_value_that_is_not_what_its_tag_says(value: str) -> None:
    with pytest.raises(InputError, match=r"^ideal 'a\.yaml'.* is not readable YAML"):
        parse_yaml(f"gender: {value}", "a.yaml", "ideal")


@pytest.mark.parametrize("key", ["x" * (MAX_KEY + 1), "9" * 400, "0x" + "f" * 400])
def test_a_key_that_no_name_can_be(key: str) -> None:
    with pytest.raises(InputError, match=r"ideal 'a\.yaml', line 2: a key is longer") as refused:
        parse_yaml(f"age: 1\ngender: {{? {key} : 1}}", "a.yaml", "ideal")
    assert len(str(refused.value)) <= 400
