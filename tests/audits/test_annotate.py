"""Findings of other methods on the nodes: with a build, afterwards, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import biasgraph
from biasgraph.audits import annotate
from biasgraph.audits.build_options import BuildOptions
from biasgraph.commands import main
from biasgraph.errors import InputError
from biasgraph.methods.registry import METHODS, parse_methods, usual_methods
from biasgraph.models.clip import ClipJudge
from biasgraph.models.json_chat import ReplyError
from tests.openai_server import Behaviour, serving
from tests.shared_runs import copy_of

SMALL = {"images": 6, "only": ("gender", "age"), "controls": 0, "min_valid": 2, "bootstrap": 100}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> biasgraph.Result:
    return biasgraph.build("a librarian", **SMALL, output=tmp_path_factory.mktemp("run") / "r")


@pytest.fixture
def copy(built: biasgraph.Result, tmp_path: Path) -> Path:
    return copy_of(built.directory, tmp_path / "r")


def numbers(result: biasgraph.Result, method: str) -> dict:
    return result.document["graph"]["findings"][method]


def test_the_sandbox_gets_every_method(built: biasgraph.Result) -> None:
    graph = built.document["graph"]
    assert list(graph["methods"]) == usual_methods()
    assert graph["methods"]["minethegap"] == {"embedder": "sandbox"}
    assert not {"embedder", "embedder_fingerprint"} & graph.keys(), "the method has it"
    gender = next(node for node in built.document["nodes"] if node["id"] == "gender")
    assert 0 <= gender["findings"]["openbias"]["intensity"] <= 1
    assert graph["findings"]["minethegap"]["score"] > 0
    assert graph["findings"]["minethegap"]["n_images"] == 6
    table = built.nodes.set_index("id")
    assert table.loc["gender", "findings.openbias.intensity"] == pytest.approx(
        gender["findings"]["openbias"]["intensity"]
    )


def test_answers_are_not_added(built: biasgraph.Result) -> None:
    assert set(built.answers["target"]) == {"gender", "age"}


def test_a_second_build_embeds_nothing_again(built: biasgraph.Result, monkeypatch) -> None:
    def never(*_):
        raise AssertionError("embedded again")

    monkeypatch.setattr(ClipJudge, "embed_images", never)
    monkeypatch.setattr(ClipJudge, "embed_texts", never)
    again = biasgraph.build("a librarian", **SMALL, output=built.directory)
    assert again.document == built.document


def test_a_method_is_added_to_a_finished_run(built: biasgraph.Result, copy: Path) -> None:
    plain = biasgraph.build("a librarian", **SMALL, annotate="none", output=copy)
    assert plain.document["graph"]["findings"] == {}
    assert "methods" not in plain.document["graph"]
    assert main(["annotate", str(copy), "openbias", "--quiet"]) == 0
    added = biasgraph.load(copy)
    assert list(added.document["graph"]["findings"]) == ["openbias"]
    assert numbers(added, "openbias") == numbers(built, "openbias")


@pytest.mark.slow(reason="two builds of the sandbox; the choice alone stays")
def test_a_choice_is_kept_by_later_builds(copy: Path) -> None:
    def build(**more):
        return biasgraph.build("a librarian", **SMALL, output=copy, **more)

    first = build(annotate=["minethegap"], method_options={"vary": "age"})
    assert numbers(first, "minethegap")["n_variations"] == 3
    assert list(first.document["graph"]["findings"]) == ["minethegap"]
    again = build(annotate=["minethegap"])
    assert numbers(again, "minethegap") == numbers(first, "minethegap")


def test_answers_get_what_needs_no_images(built: biasgraph.Result, tmp_path: Path) -> None:
    built.answers.to_csv(tmp_path / "a.csv", index=False)
    result = biasgraph.build(
        answers=tmp_path / "a.csv", annotate="openbias", bootstrap=100, output=tmp_path / "out"
    )
    assert list(result.document["graph"]["findings"]) == ["openbias"]
    kept = biasgraph.build(answers=tmp_path / "a.csv", bootstrap=150, output=tmp_path / "out")
    assert list(kept.document["graph"]["findings"]) == ["openbias"]


@pytest.mark.slow(reason="a build of two prompts; methods/ has the ranking")
def test_several_prompts_have_theirs_and_a_ranking(tmp_path: Path) -> None:
    prompts = ["a librarian", "a photo of a [chef] at home"]
    result = biasgraph.build(
        prompts=prompts, images=4, only=("gender",), bootstrap=100, output=tmp_path / "r"
    )
    found = numbers(result, "minethegap")
    scores = [numbers(part, "minethegap")["score"] for part in result.prompts]
    assert found["score"] == pytest.approx(sum(scores) / 2)
    ranking = found["show"][-1]["items"]
    assert [item["value"] for item in ranking] == sorted(scores)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"annotate": "openbais"}, "Did you mean 'openbias'"),
        ({"annotate": ","}, "--annotate is empty"),
        ({"annotate": "none,tibet"}, "'none' cannot be combined"),
        ({"annotate": "tibet", "method_options": {"null": True}}, "no effect without minethegap"),
        ({"method_options": {"vary": "gendr"}}, "Did you mean 'gender'"),
        ({"embedder": "sandbox:x"}, "the sandbox's embedder is sandbox"),
        ({"embedder": "clp:x"}, "no backend 'clp'"),
    ],
)
def test_what_is_wrong_is_said_before_any_image(tmp_path: Path, options, words: str) -> None:
    with pytest.raises(InputError, match=words):
        biasgraph.build("a librarian", **SMALL, **options, output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_images_are_needed_for_minethegap(built: biasgraph.Result) -> None:
    with pytest.raises(InputError, match="an answers table has none"):
        biasgraph.analyze(built.answers, annotate="minethegap")


def test_other_models_name_their_embedder() -> None:
    options = BuildOptions(prompt="a nurse", annotate="minethegap")
    with pytest.raises(InputError, match="needs --embedder"):
        annotate.choose_methods(options, {}, toy=False)
    assert annotate.choose_methods(BuildOptions(prompt="a nurse"), {}, toy=False) == {}


@pytest.mark.slow(reason="annotates a run")
def test_a_method_that_fails_leaves_the_graph(tmp_path: Path) -> None:
    with serving(Behaviour(says=lambda _: "I would rather not.")) as fake:
        options = {**SMALL, "images": 2, "annotate": "minethegap", "llm": "openai:writer"}
        with pytest.raises(ReplyError, match=r"-failed\.json"):
            biasgraph.build("a nurse", **options, base_url=fake.base_url, output=tmp_path)
    found = biasgraph.load(tmp_path)
    assert not found.document["graph"]["findings"]
    assert found.document["nodes"][0]["status"] == "ok"


@pytest.mark.slow(reason="annotates a run; runs/ asks servers")
def test_a_finished_run_is_annotated_by_a_server_of_ones_choice(tmp_path: Path, capsys) -> None:
    run = tmp_path / "r"
    biasgraph.build("a nurse", **{**SMALL, "images": 2}, annotate="none", output=run)
    reply = json.dumps({"variations": [f"a nurse in room {number}" for number in range(15)]})
    words = ["annotate", str(run), "minethegap", "--llm", "openai:writer", "--quiet"]
    with serving(Behaviour(says=lambda _: reply)) as fake:
        words += ["--base-url", fake.base_url]
        assert main([*words, "--budget", "calls=0"]) != 0
        assert fake.counted.calls == 0
        assert main([*words, "--budget", "calls=1"]) == 0
        assert main(words) == 0
        assert fake.counted.calls == 1
    assert numbers(biasgraph.load(run), "minethegap")["n_variations"] == 15


def test_findings_stand_in_one_order(built: biasgraph.Result) -> None:
    assert built.directory is not None
    again = annotate.annotate_run(built.directory, ["tibet"], {})
    for one in (again.document["graph"], *again.document["nodes"]):
        names = list(one["findings"])
        assert names == [name for name in METHODS if name in names]


def test_options_of_a_method_that_is_not_named(built: biasgraph.Result) -> None:
    with pytest.raises(InputError, match="no effect without minethegap: name it among"):
        annotate.choose_methods(BuildOptions(prompt="a nurse", embedder="clip:x"), {}, toy=False)
    assert built.directory is not None
    with pytest.raises(InputError, match="--llm has no effect: annotate with openbias or"):
        annotate.annotate_run(built.directory, ["tibet"], {"llm": "sandbox"})
    with pytest.raises(InputError, match="nothing to add: name tibet"):
        annotate.annotate_run(built.directory, parse_methods("none"), {})
    with pytest.raises(InputError, match="remove --vary, or annotate with openbias"):
        given = {"llm": "sandbox", "vary": ["gender"]}
        annotate.annotate_run(built.directory, ["minethegap"], given)


def test_only_the_sandbox_alone_is_asked_without_being_told() -> None:
    assert annotate.is_toy("sandbox:debiased", "sandbox")
    assert not annotate.is_toy("sandbox:debiased", "openai:gpt")
    assert not annotate.is_toy("folder:x", "sandbox")


@pytest.mark.slow(reason="a run of several prompts")
def test_one_prompt_of_many_is_referred_to_the_run(tmp_path: Path, capsys) -> None:
    biasgraph.build(
        prompts=["a nurse"], images=2, only=("gender",), bootstrap=100, output=tmp_path / "r",
        annotate="none",
    )  # fmt: skip
    [part] = (tmp_path / "r" / "prompts").iterdir()
    assert main(["annotate", str(part), "openbias"]) == 2
    assert "give the run's own directory" in capsys.readouterr().err
    assert json.loads((part / "graph.json").read_bytes())["graph"]["findings"] == {}


@pytest.mark.slow(reason="a build of the sandbox; runs/test_other_images.py has the rows")
def test_images_of_the_variations_are_made_once_and_stay_out_of_the_tables(tmp_path: Path) -> None:
    run = tmp_path / "r"
    vary = ("gender", "age")  # together: what no counterfactual says
    options = {**SMALL, "images": 4, "annotate": "minethegap", "output": run}
    plain = biasgraph.build("a nurse", **options, method_options={"vary": vary})
    assert main(["annotate", str(run), "minethegap", "--null", "-q"]) == 0
    found = biasgraph.load(run)
    made = list((run / "images").glob("*.png"))
    assert len(made) == len(set(plain.answers["image"])) + 4
    assert numbers(found, "minethegap")["score_null"] > numbers(plain, "minethegap")["score"]
    assert numbers(found, "minethegap")["score"] == numbers(plain, "minethegap")["score"]
    assert found.tables.equals(plain.tables)
    assert found.answers.equals(plain.answers)
    again = biasgraph.build("a nurse", **options, method_options={"vary": vary})
    assert numbers(again, "minethegap") == numbers(found, "minethegap"), "--null is kept"
    assert len(list((run / "images").glob("*.png"))) == len(made)
    without = biasgraph.build("a nurse", **options, method_options={"vary": vary, "null": False})
    assert "score_null" not in numbers(without, "minethegap")


@pytest.mark.slow(reason="annotates a run twice")
def test_a_language_model_proposes_the_variations_once(tmp_path: Path) -> None:
    run = tmp_path / "r"
    options = {**SMALL, "images": 2, "annotate": "minethegap", "output": run}
    first = biasgraph.build("a nurse", **options, llm="sandbox")
    [transcript] = (run / "transcripts").iterdir()
    assert numbers(first, "minethegap")["n_variations"] == 15
    assert first.document["graph"]["methods"]["minethegap"]["llm"] == "sandbox"
    shown = str(numbers(first, "minethegap")["show"])
    assert "rules over word lists" in shown
    gender = next(node for node in first.document["nodes"] if node["id"] == "gender")
    assert None not in gender["findings"]["minethegap"]["nearest"]
    before = transcript.stat().st_mtime_ns
    assert biasgraph.build("a nurse", **options).document == first.document
    assert transcript.stat().st_mtime_ns == before
    combined = biasgraph.build("a nurse", **options, method_options={"vary": "age"})
    assert combined.document["graph"]["methods"]["minethegap"] == {
        "embedder": "sandbox",
        "vary": ["age"],
    }


def test_pictures_of_a_folder_have_no_null(tmp_path: Path, built: biasgraph.Result) -> None:
    folder = str(tmp_path / "f")
    assert main(["export", str(built.directory), "--to", "folder", "-o", folder]) == 0
    with pytest.raises(InputError, match="made elsewhere"):
        biasgraph.build(
            model=f"folder:{tmp_path / 'f'}", vqa="sandbox", annotate="minethegap",
            embedder="sandbox", method_options={"null": True}, only=("gender", "age"),
            output=tmp_path / "r",
        )  # fmt: skip
    assert not (tmp_path / "r").exists()


def test_a_plan_says_what_null_costs() -> None:
    from biasgraph.audits import build as audit

    options = BuildOptions(
        prompt="a nurse", images=8, annotate="minethegap", method_options={"null": True}
    )
    assert "minethegap generates 8 more images" in audit.plan(options)["notes"]
    plain = BuildOptions(prompt="a nurse", images=8)
    assert not any("more images" in note for note in audit.plan(plain)["notes"])
