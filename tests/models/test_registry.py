"""Specs: which backend they name, and what they say when they name none."""

from __future__ import annotations

from importlib import import_module

import pytest

from biasgraph.errors import InputError, MissingExtra, ModelError
from biasgraph.models.backend import OPTION, obstacle_of
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.registry import (
    BACKENDS,
    EMBEDDER,
    GENERATOR,
    JUDGE,
    LANGUAGE_MODEL,
    Backend,
    Role,
    find_backend,
    load_embedder,
    load_generator,
    load_judge,
    load_language_model,
    refuse_unread,
)

LOADERS = {
    GENERATOR: load_generator,
    JUDGE: load_judge,
    EMBEDDER: load_embedder,
    LANGUAGE_MODEL: load_language_model,
}


@pytest.mark.parametrize("name", sorted(BACKENDS))
def test_loaders_are_where_the_registry_says(name: str) -> None:
    for role in BACKENDS[name].roles.values():
        assert isinstance(role.loader, str)
        module, function = role.loader.split(":")
        assert callable(getattr(import_module(module), function))
        assert Spec(role.example).backend == name


@pytest.mark.parametrize(
    ("text", "backend", "name", "revision"),
    [
        ("sandbox", "sandbox", "", None),
        ("lm:Qwen/Qwen3-4B", "lm", "Qwen/Qwen3-4B", None),
        ("lm:Qwen/Qwen3-4B@v1.0", "lm", "Qwen/Qwen3-4B", "v1.0"),
        ("lm:Qwen/Qwen3-4B@", "lm", "Qwen/Qwen3-4B", None),
        ("openai:llama3:8b", "openai", "llama3:8b", None),
        ("lm:@main", "lm", "@main", None),
    ],
)
def test_a_spec_is_cut_at_its_first_colon_and_last_at(text, backend, name, revision) -> None:
    spec = Spec(text)
    assert (spec.backend, spec.name, spec.revision) == (backend, name, revision)


@pytest.mark.parametrize("role", sorted(LOADERS))
@pytest.mark.parametrize("spec", ["", ":", "nothing", "nothing:x", "SANDBOX", " sandbox", "a/b/c"])
def test_a_spec_that_names_no_backend_is_one_line(role: str, spec: str) -> None:
    with pytest.raises(InputError) as raised:
        LOADERS[role](spec)
    message = str(raised.value)
    assert f"{OPTION[role]} '{spec}': no backend" in message
    assert "\n" not in message
    able = [name for name, backend in BACKENDS.items() if role in backend.roles]
    assert all(name in message for name in able)


@pytest.mark.parametrize("role", sorted(LOADERS))
def test_a_backend_is_asked_only_for_what_it_can_be(role: str) -> None:
    for name, backend in BACKENDS.items():
        if role in backend.roles:
            assert find_backend(Spec(f"{name}:x"), role) is backend
        else:
            with pytest.raises(InputError, match=f"{name} has no {role}"):
                LOADERS[role](f"{name}:x")


def test_options_that_no_model_heeds_are_refused() -> None:
    used = {GENERATOR: "sandbox:stereotyped", JUDGE: "clip:x"}
    refuse_unread(ModelOptions(device="cpu"), used)
    with pytest.raises(InputError, match="--steps has no effect on sandbox:stereotyped or clip:x"):
        refuse_unread(ModelOptions(device="cpu", steps=3), used)
    refuse_unread(ModelOptions(), used)
    refuse_unread(ModelOptions(guidance=0.0), {GENERATOR: "diffusers:x"})


def test_a_missing_package_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    role = {JUDGE: Role("no.such:module", "needy:x")}
    monkeypatch.setitem(BACKENDS, "needy", Backend("", role, ["no_such_package"], "needy"))
    with pytest.raises(MissingExtra, match=r"pip install 'biasgraph\[needy\]'"):
        load_judge("needy:x")
    bare = Backend("", role, ["no_such_package", "os", "no.other"])
    monkeypatch.setitem(BACKENDS, "needy", bare)
    with pytest.raises(ModelError, match=r"not installed: no_such_package, no\.other; pip install"):
        load_judge("needy:x")


def test_an_obstacle_is_told_or_its_own_failure() -> None:
    def broken() -> str | None:
        raise KeyError("HOME")

    assert obstacle_of(Backend("", {})) is None
    assert obstacle_of(Backend("", {}, obstacle=lambda: None)) is None
    assert obstacle_of(Backend("", {}, obstacle=lambda: "no key")) == "no key"
    with pytest.raises(ModelError, match="cannot tell whether it works: KeyError"):
        obstacle_of(Backend("", {}, obstacle=broken))
