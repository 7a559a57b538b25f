"""Lists of prompts: shipped, in a file, or as texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError, printable
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.prompts.prompt_lists import PromptList
from tests.found import Json, found_document
from tests.hostile import HOSTILE, UNWRITABLE

AXES = load_axis_set("occupation").only(["gender"])


def written(tmp_path: Path, content: str | bytes, name: str = "mine.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def texts(given: object) -> list[str]:
    return [text for text, _ in PromptList.of(given).prompts]  # type: ignore[arg-type]


def test_the_occupations_are_those_of_the_paper_as_prompts() -> None:
    prompts = PromptList.of("occupations")
    assert prompts.name == "occupations"
    assert len(prompts.prompts) == 26
    found = texts("occupations")
    assert found[:5] == [
        "a computer programmer", "an elementary school teacher", "a librarian", "an announcer",
        "a pharmacist",
    ]  # fmt: skip
    plans = prompts.plans(AXES)
    assert [plan.initial.text for plan in plans] == found
    assert plans[1].subject.text == "an elementary school teacher"


def test_a_file_has_one_prompt_on_each_line(tmp_path: Path) -> None:
    content = (
        "\ufeff# prompts\r\na nurse\r\n\r\n   a photo of a [bird photographer] in the wild  \r"
        "  # no prompt\na photo of the [#1 fan]\u2028of chess"
    )
    path = written(tmp_path, content, "My list.v2.txt")
    found = PromptList.of(str(path))
    assert found.name == "My list.v2"
    assert found.prompts == (
        ("a nurse", f"{path}, line 2"),
        ("a photo of a [bird photographer] in the wild", f"{path}, line 4"),
        ("a photo of the [#1 fan]\u2028of chess", f"{path}, line 6"),
    )
    plan = PromptList.of(path).plans(AXES)[1]
    assert plan.initial.text == "a photo of a bird photographer in the wild"
    assert plan.subject.text == "a bird photographer"


def test_texts_from_python() -> None:
    found = PromptList.of(["a nurse", "a cook"])
    assert found.prompts == (("a nurse", "prompt 1"), ("a cook", "prompt 2"))
    with pytest.raises(InputError, match=r"^prompt 2: the prompt is empty"):
        PromptList.of(["a nurse", ""]).plans(AXES)
    with pytest.raises(InputError, match="the list of prompts is empty"):
        PromptList.of([])


def test_lines_of_a_file_stay_as_they_are(tmp_path: Path) -> None:
    assert texts(written(tmp_path, "librarian\n")) == ["librarian"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "mine.txt contains no prompts: write one per line"),
        ("# only\n\n  # comments", "mine.txt contains no prompts"),
        (b"a nurse\na caf\xe9 owner\n", "mine.txt, line 2: not UTF-8 text"),
        ("a nurse".encode("utf-16"), "mine.txt, line 1: not UTF-8 text"),
        ("a nurse\nbeautiful and strange\n", "mine.txt, line 2: cannot tell the subject"),
        (
            "a nurse\n\na cook\na nurse\n",
            r"line 4: .*'a nurse' is already in .*mine.txt, line 1",
        ),
        ("a [nurse]\na nurse", r"line 2: .*'a nurse' is already in .*line 1"),
        ("a [nurse] and a [cook]", "line 1: brackets must enclose exactly one subject"),
        ("a nurse\n" + "a nurse " * 400, "line 2: the prompt has 3,199 characters"),
    ],
)
def test_what_is_wrong_names_file_and_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        PromptList.of(written(tmp_path, content)).plans(AXES)
    assert "\n" not in str(caught.value)


def test_what_the_generator_refuses_names_the_line(tmp_path: Path) -> None:
    def check(prompts: object) -> None:
        raise InputError("too long for it")

    path = written(tmp_path, "# one\na nurse")
    with pytest.raises(InputError, match=r"mine.txt, line 2: too long for it"):
        PromptList.of(path).plans(AXES, check)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("ocupations", r"unknown prompt list 'ocupations'. Did you mean 'occupations'\?"),
        ("nothing", "Shipped: occupations; for your own list, give its path"),
        ("no.txt", "cannot read the prompts in no.txt: No such file"),
        ("./occupations", "cannot read the prompts in"),
        ("nul\0.txt", "cannot read the prompts in"),
        (Path("occupations"), "cannot read the prompts in"),
        ("", "unknown prompt list ''"),
    ],
)
def test_an_unknown_name_or_file(given: str | Path, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PromptList.of(given)


def test_a_folder_without_searched_prompts_is_no_list(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        PromptList.of(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path} is not a run of `biasgraph mine` or `biasgraph search`: it contains "
        "neither mined.json nor found.json"
    )


def mined_run(folder: Path, *prompts: str, **changed: object) -> Path:
    """The directory of a search with what is read of it; the ranks are the order turned around."""
    settings = {
        "objective": "bias", "images": 6, "variations": 15, "vary": [], "axes": "occupation",
        "axes_digest": AXES.digest(), "ideal": None, "alpha": 0.25, "fresh_batches": 2,
    }  # fmt: skip
    rows = [
        {"rank": len(prompts) - place, "prompt": prompt, "variations": [], "score": 0.5,
         "low": 0.4, "high": 0.6, "fresh_scores": [0.45, 0.55], "n_images": 12, "n_batches": 2,
         "reason": ""}
        for place, prompt in enumerate(prompts)
    ]  # fmt: skip
    document = {
        "schema": "biasgraph-mined/1", "model": "sandbox:stereotyped", "model_fingerprint": "1",
        "proposed_by": "sandbox", "settings": settings, "mined": rows, **changed,
    }  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "mined.json").write_text(json.dumps(document))
    return folder


def test_a_mine_run_gives_its_prompts_by_their_ranks(tmp_path: Path, monkeypatch) -> None:
    run = mined_run(tmp_path / "mined-bias", "a nurse", "a [cook] by a dog")
    found = PromptList.of(str(run))
    assert found.name == "mined-bias-prompts"  # builds go beside the run, not into it
    assert found.prompts == (
        ("a [cook] by a dog", f"{run / 'mined.json'}, prompt 1"),
        ("a nurse", f"{run / 'mined.json'}, prompt 2"),
    )
    monkeypatch.chdir(tmp_path)
    assert PromptList.of("mined-bias").prompts[0] == (
        "a [cook] by a dog", "mined-bias/mined.json, prompt 1"
    )  # fmt: skip
    monkeypatch.chdir(run)
    assert PromptList.of(".").name == found.name


def test_mined_prompts_that_the_axes_do_not_fit_are_named(tmp_path: Path) -> None:
    run = mined_run(tmp_path / "run", "beautiful and strange", "a nurse")
    with pytest.raises(InputError, match=r"run/mined.json, prompt 2: cannot tell the subject"):
        PromptList.of(run).plans(AXES)


@pytest.mark.parametrize(
    "changed",
    [
        {"schema": "biasgraph-mined/2"},
        {"mined": []},
        {"mined": None},
        {"mined": [{"rank": 1}]},
        {"mined": {"prompt": "\ud800"}},
        {"settings": {}},
        {"model": 3},
        {"schema": "\x1b[31m\n"},
    ],
)
def test_a_damaged_mined_json_is_one_line(tmp_path: Path, changed: dict[str, object]) -> None:
    run = mined_run(tmp_path / "run", "a nurse", **changed)
    with pytest.raises(InputError, match=r"run/mined\.json is damaged: ") as caught:
        PromptList.of(run)
    assert printable(str(caught.value)) == str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[]", b"[" * 5000, b'{"schema": NaN}', b'"biasgraph-mined/1"']
)
def test_a_mined_json_that_is_another_thing_is_one_line(tmp_path: Path, content: bytes) -> None:
    run = mined_run(tmp_path / "run", "a nurse")
    (run / "mined.json").write_bytes(content)
    with pytest.raises(InputError, match=r"run/mined\.json is damaged: "):
        PromptList.of(run)


@pytest.mark.parametrize(
    "prompt", ["", "a\x1b[31m nurse", "a\u202enurse", "a nurse " * 400, 7, None]
)
def test_a_mined_prompt_that_is_none_is_one_line(tmp_path: Path, prompt: str) -> None:
    run = mined_run(tmp_path / "run", prompt)
    with pytest.raises(InputError, match=r"mined.json is damaged: mined\.0\.prompt: ") as caught:
        PromptList.of(run)
    assert printable(str(caught.value)) == str(caught.value)


def test_hostile_prompts_come_through_as_they_are(tmp_path: Path) -> None:
    lines = [
        f"a photo of a [nurse] {text}"
        for text in HOSTILE
        if text not in UNWRITABLE and not {*"\r\n[]"} & {*text}
    ]
    path = written(tmp_path, "\n".join(lines))
    kept = [line.strip() for line in lines if len(line) <= 2000]
    assert [text for text in texts(path) if len(text) <= 2000] == kept
    for text in kept[:20]:
        assert plan_prompts(text, AXES).subject.text == "a nurse"
    bad = written(tmp_path, "\x1b[31mred beautiful", "bad\x1b[0m.txt")
    with pytest.raises(InputError) as caught:
        PromptList.of(bad).plans(AXES)
    assert str(caught.value) == printable(str(caught.value))


def found_run(folder: Path, document: Json) -> Path:
    """The directory of a `search` with what it found."""
    folder.mkdir(parents=True)
    (folder / "found.json").write_text(json.dumps(document))
    return folder


def test_a_search_run_gives_what_it_found_once_and_no_baseline(tmp_path: Path) -> None:
    document = found_document(n_prompts=3, prompts=["a nurse", "a [cook] by a dog", "a nurse"])
    run = found_run(tmp_path / "found-male", document)
    found = PromptList.of(str(run))
    assert found.name == "found-male-prompts"
    assert found.prompts[:2] == (
        ("a nurse", f"{run / 'found.json'}, prompt 1"),
        ("a [cook] by a dog", f"{run / 'found.json'}, prompt 2"),
    )
    searched = {one["cell"] for one in document["cells"] if one["method"] == "search"}
    rows = [one["prompt"] for one in document["prompts"] if one["cell"] in searched]
    assert None in rows  # one search came to nothing
    assert [text for text, _ in found.prompts] == [*dict.fromkeys(filter(None, rows))]


def test_a_search_that_found_nothing_is_no_list(tmp_path: Path) -> None:
    run = found_run(tmp_path / "run", found_document(n_prompts=2, methods=["lm", "curated"]))
    with pytest.raises(InputError, match=r"run/found\.json has no prompt that a search found"):
        PromptList.of(run)


@pytest.mark.parametrize(
    "changed",
    [
        {"schema": "biasgraph-found/2"},
        {"cells": []},
        {"cells": None},
        {"prompts": [{"number": 1}]},
        {"prompts": {"prompt": "\ud800"}},
        {"targets": []},
        {"model": 3},
        {"schema": "\x1b[31m\n"},
    ],
)
def test_a_damaged_found_json_is_one_line(tmp_path: Path, changed: dict[str, object]) -> None:
    run = found_run(tmp_path / "run", {**found_document(n_prompts=2), **changed})
    with pytest.raises(InputError, match=r"run/found\.json is damaged: ") as caught:
        PromptList.of(run)
    assert printable(str(caught.value)) == str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[]", b"[" * 5000, b'{"schema": NaN}', b'"biasgraph-found/1"']
)
def test_a_found_json_that_is_another_thing_is_one_line(tmp_path: Path, content: bytes) -> None:
    run = found_run(tmp_path / "run", {})
    (run / "found.json").write_bytes(content)
    with pytest.raises(InputError, match=r"run/found\.json is damaged: "):
        PromptList.of(run)
