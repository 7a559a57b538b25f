"""Reading what ships in templates/."""

from __future__ import annotations

import pytest

from biasgraph.io import resources


def test_shipped_axis_sets() -> None:
    assert "occupation" in resources.names("axes", ".yaml")
    assert resources.read_text("axes", "occupation.yaml").startswith("#")


def test_the_26_occupations_of_the_paper() -> None:
    occupations = resources.lines("prompts", "occupations.txt")
    assert len(occupations) == len(set(occupations)) == 26
    assert (occupations[0], occupations[-1]) == ("computer programmer", "gardener")


@pytest.mark.parametrize(
    "parts",
    [
        ("axes", "../words/frames.txt"),
        ("..", "setup.cfg"),
        ("axes", "/etc/passwd"),
        ("axes", "..\\words"),
        ("axes", ""),
        ("axes", ".hidden"),
        ("axes", "a\0b"),
        ("axes", "no_such.yaml"),
    ],
)
def test_nothing_outside_is_read(parts: tuple[str, ...]) -> None:
    with pytest.raises(FileNotFoundError):
        resources.read_text(*parts)


def test_an_installed_package_is_read_as_the_checkout_is(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    from_package = resources.read_text("axes", "occupation.yaml")

    def not_installed(_: str) -> None:
        raise ModuleNotFoundError

    request.addfinalizer(resources._root.cache_clear)
    request.addfinalizer(resources.read_text.cache_clear)
    monkeypatch.setattr("importlib.resources.files", not_installed)
    resources._root.cache_clear()
    resources.read_text.cache_clear()
    assert resources.read_text("axes", "occupation.yaml") == from_package
