"""Axes on the fly: through the command line, by rules, by nonsense, and by a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from biasgraph.audits.build_options import BuildOptions
from biasgraph.commands import main
from biasgraph.data.axes import load_axis_set
from biasgraph.data.result import load
from biasgraph.errors import InputError
from biasgraph.models import lm
from biasgraph.runs.proposed_axes import proposed_axes
from biasgraph.sandbox.proposer import ABOUT
from tests.models import tiny_lm
from tests.openai_server import Behaviour, FakeServer, serving

SMALL = ("--images", "2", "--min-valid", "1", "--bootstrap", "100", "--annotate", "none", "-q")
GOOD = {
    "Gender bias": ["a male librarian", "a female librarian"],
    "Occupation": ["a nurse", "a doctor"],
}


def build(directory: Path, *more: str) -> int:
    arguments = ["build", "--prompt", "a librarian", "--axes", "llm", "-o", str(directory)]
    return main([*arguments, *SMALL, *more])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("built") / "run"
    assert build(directory, "--only", "gender,clothing") == 0
    return directory


class TestOnTheSandbox:
    @pytest.mark.slow(reason="a build of its own")
    def test_the_whole_graph_says_where_its_axes_come_from(self, built: Path) -> None:
        graph = load(built).document["graph"]
        assert graph["axes"]["name"] == "proposed"
        assert graph["settings"]["alpha"] == 0.05
        (transcript,) = (built / "transcripts").iterdir()
        proposed = f"sandbox ({ABOUT}) proposed the axes (transcripts/{transcript.name})"
        assert proposed in graph["notes"]
        assert any(note.startswith("edges need p <= 0.05") for note in graph["notes"])
        nodes = {node["id"]: node for node in load(built).document["nodes"]}
        assert list(nodes) == ["gender", "clothing"]
        assert nodes["gender"]["attributes"] == ["male", "female"]
        answers = load(built).answers
        own = answers[(answers["axis"] == "clothing") & (answers["target"] == "clothing")]
        assert (own["answer"] == own["attribute"]).mean() > 0.8  # the judge tells them apart

    def test_the_axes_can_be_read_and_checked(self, built: Path, capsys) -> None:
        axes = load_axis_set(str(built / "axes.yaml"))
        assert len(axes.axes) == 8  # not only those that were looked at
        assert main(["axes", "check", str(built / "axes.yaml")]) == 0
        assert "a female librarian" in capsys.readouterr().out
        assert f"# sandbox ({ABOUT}) proposed the axes" in (built / "axes.yaml").read_text()

    def test_a_second_build_asks_nothing(self, built: Path, monkeypatch) -> None:
        from biasgraph.sandbox.proposer import Proposer

        monkeypatch.setattr(Proposer, "reply", _never)
        before = (built / "axes.yaml").read_bytes()
        assert build(built, "--only", "gender,clothing") == 0
        assert (built / "axes.yaml").read_bytes() == before

    def test_commands_find_its_axes_by_themselves(self, built: Path) -> None:
        assert main(["annotate", str(built), "tibet", "-q"]) == 0

    @pytest.mark.slow(reason="a build of the sandbox; reading edited axes stays")
    def test_edited_axes_are_kept(self, built: Path, tmp_path: Path) -> None:
        run = tmp_path / "run"
        (run / "transcripts").mkdir(parents=True)
        for path in (built / "transcripts").iterdir():
            (run / "transcripts" / path.name).write_bytes(path.read_bytes())
        assert build(run, "--only", "clothing") == 0
        text = (run / "axes.yaml").read_text().replace("name: male", "name: masculine")
        (run / "axes.yaml").write_text(text)
        assert build(run, "--only", "gender") == 0
        assert load(run).document["nodes"][0]["attributes"] == ["masculine", "female"]
        assert (run / "axes.yaml").read_text() == text
        assert build(run, "--only", "gender", "--fresh") == 0  # the run moves, and its axes with it
        (moved,) = tmp_path.glob("run-until-*")
        assert (moved / "axes.yaml").read_text() == text
        assert load(run).document["nodes"][0]["attributes"] == ["male", "female"]
        assert build(run, "--only", "gender") == 0

    def test_dry_run_writes_nothing(self, tmp_path: Path, capsys) -> None:
        assert build(tmp_path / "run", "--dry-run") == 0
        assert not (tmp_path / "run").exists()

    @pytest.mark.slow(reason="a build of the sandbox; axes kept beside a run stay")
    def test_another_axis_set_of_the_run_stays(self, built: Path, tmp_path: Path) -> None:
        run = tmp_path / "run"
        run.mkdir()
        assert build(run, "--only", "gender") == 0
        text = (run / "axes.yaml").read_text().replace("name: male", "name: masculine")
        (run / "axes.yaml").write_text(text)
        (transcript,) = (run / "transcripts").iterdir()
        transcript.unlink()  # nothing was proposed that could have been edited
        assert build(run, "--only", "gender") == 0
        assert load_axis_set(str(run / "axes.yaml")) == load_axis_set(str(built / "axes.yaml"))
        assert (run / "axes-1.yaml").read_text() == text


def _never(*_: object) -> str:
    raise AssertionError("asked again")


class TestBeforeABuild:
    def test_axes_are_proposed_to_a_file(self, tmp_path: Path, capsys) -> None:
        file = tmp_path / "axes.yaml"
        arguments = ["axes", "propose", "a [dog] in a park", "-o", str(file)]
        assert main(arguments) == 2
        assert "axes propose needs a language model" in capsys.readouterr().err
        assert main([*arguments, "--llm", "sandbox", "--budget", "calls=1"]) == 2
        assert not list(tmp_path.iterdir())
        assert main([*arguments, "--llm", "sandbox"]) == 0
        shown = capsys.readouterr()
        assert "a playful dog in a park" in shown.out
        assert ABOUT in shown.err
        axes = load_axis_set(str(file))
        assert axes.subject == "animal"
        assert main([*arguments, "--llm", "sandbox"]) == 2  # it is there, perhaps edited
        file.unlink()
        capsys.readouterr()
        assert main([*arguments, "--llm", "sandbox", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["axes"]["name"] == "proposed"
        assert len(list((tmp_path / "transcripts").iterdir())) == 1

    def test_another_ending_is_refused(self, tmp_path: Path, capsys) -> None:
        target = str(tmp_path / "axes.txt")
        assert main(["axes", "propose", "a dog", "--llm", "sandbox", "-o", target]) == 2
        assert "ends in .yaml" in capsys.readouterr().err


class TestByRules:
    def test_the_set_that_suits(self, tmp_path: Path) -> None:
        for prompt, name in (("a dog", "animal"), ("a street", "scene"), ("a cook", "occupation")):
            found = proposed_axes("auto", [prompt], directory=tmp_path)
            assert found.axes.name == name
            assert found.notes == (
                f"The axes are those of the shipped set '{name}', chosen by rules over word lists; "
                "no language model was asked",
            )
        assert not any(tmp_path.iterdir())

    @pytest.mark.parametrize("way", ["auto", "llm"])
    def test_a_subject_that_rules_do_not_know(self, way: str, tmp_path: Path) -> None:
        found = proposed_axes(way, ["a hot blorp"], directory=tmp_path, llm="sandbox")
        assert found.notes[1].startswith("no word list has 'blorp': treated as a person")

    def test_several_prompts_need_one_set(self, tmp_path: Path) -> None:
        assert proposed_axes("auto", ["a dog", "a cat"], directory=tmp_path).axes.name == "animal"
        with pytest.raises(InputError, match="'a dog' needs 'animal' and 'a street' needs"):
            proposed_axes("auto", ["a dog", "a street"], directory=tmp_path)

    @pytest.mark.slow(reason="a build of its own")
    def test_through_the_command_line(self, tmp_path: Path) -> None:
        run = tmp_path / "run"
        arguments = ["build", "--prompt", "a cook", "--axes", "auto", "-o", str(run), *SMALL]
        assert main([*arguments, "--only", "gender"]) == 0
        graph = load(run).document["graph"]
        assert graph["axes"]["name"] == "occupation"
        assert graph["settings"]["alpha"] == 1e-4
        assert "no language model was asked" in graph["notes"][0]


class TestRefused:
    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            (("--prompts", "occupations"), "proposes axes for one prompt"),
            (("--prompt", "a nurse", "--axes", "atuo"), "Did you mean 'auto'"),
            (
                ("--prompt", "a cook", "--model", "folder:x", "--vqa", "sandbox"),
                "exist already",
            ),
            (("--answers", "x.csv"), "exist already"),
            (("--prompt", "the"), "subject"),
            (("--prompt", "a cook", "--llm", "lm:"), "lm:"),
            (("--prompt", "a cook", "--llm", "nothing:x"), "no backend 'nothing'"),
            (("--prompt", "a cook", "--only", "gendr"), "Did you mean 'gender'?"),
        ],
    )
    def test_options(self, options, problem: str, tmp_path: Path, capsys) -> None:
        run = tmp_path / "run"
        assert main(["build", "--axes", "llm", "-o", str(run), *options]) == 2
        error = capsys.readouterr().err
        assert problem in error
        assert error.count("Error: ") == 1
        assert error.splitlines()[-1].startswith("Error: ")
        assert not (run / "run.json").exists()

    def test_a_folder_of_somebody_elses(self, tmp_path: Path, capsys) -> None:
        (tmp_path / "thesis.txt").write_text("mine")
        assert build(tmp_path) == 2
        assert "nothing in it was touched" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]

    def test_no_language_model_for_other_images(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="--axes llm needs a language model"):
            proposed_axes("llm", ["a cook"], directory=tmp_path, generator="diffusers:some/model")

    def test_a_language_model_without_work(self, tmp_path: Path, capsys) -> None:
        arguments = ["build", "--prompt", "a cook", "--llm", "sandbox", "-o", str(tmp_path / "r")]
        assert main([*arguments, "--annotate", "none"]) == 2
        assert "--llm has no effect: use --axes llm" in capsys.readouterr().err
        assert not (tmp_path / "r").exists()

    def test_python(self) -> None:
        with pytest.raises(InputError, match="exist already"):
            BuildOptions(answers="x.csv", axes="auto")


@pytest.mark.slow(reason="a build of its own")
def test_a_model_that_talks_nonsense(tmp_path: Path, capsys) -> None:
    model = tiny_lm.save_gpt2(tmp_path / "gpt2", positions=2_048)
    run = tmp_path / "run"
    assert build(run, "--llm", f"lm:{model}") == 1
    error = capsys.readouterr().err
    assert len(error.strip().splitlines()) == 1
    (path,) = (run / "transcripts").iterdir()
    assert f"the transcript is in {path}" in error
    turns = json.loads(path.read_text())["turns"]
    assert [turn["role"] for turn in turns[:4]] == ["user", "assistant", "user", "assistant"]
    assert build(run, "--only", "gender") == 0  # what is there is no obstacle to another model
    assert path.exists()


# A server


def test_a_model_that_talks_for_ever(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(lm, "TOLD_EVERY", 0)
    folder = tiny_lm.save_gpt2(tmp_path / "model")
    target = tmp_path / "axes.yaml"
    propose = ["axes", "propose", "a librarian", "--llm", f"lm:{folder}", "--device", "cpu"]
    assert main([*propose, "--llm-seconds", "0.01", "-o", str(target)]) == 1
    said = capsys.readouterr().err
    error = said[said.index("Error:") :]
    assert "did not finish within 0.01 s (--llm-seconds gives it more)" in " ".join(error.split())
    assert " is talking: " in " ".join(said.split())
    assert not target.exists()


def replying(*replies: Any) -> Callable[[Mapping[str, Any]], str]:
    """Prose for the first two questions of a conversation; then these, one after the other."""

    def says(body: Mapping[str, Any]) -> str:
        asked = sum(message["role"] == "user" for message in body["messages"])
        if asked < 3:
            return "There are many." if asked == 1 else "Here they are: ..."
        reply = replies[min(asked - 3, len(replies) - 1)]
        return reply if isinstance(reply, str) else json.dumps(reply)

    return says


@pytest.fixture
def server(monkeypatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with serving(Behaviour()) as fake:
        yield fake


def on(server: FakeServer, directory: Path, *more: str) -> int:
    return build(directory, "--llm", "openai:writer", "--base-url", server.base_url, *more)


class TestOnAServer:
    def test_that_answers_well(self, server: FakeServer, tmp_path: Path, capsys) -> None:
        run = tmp_path / "run"
        server.behaviour.says = replying("No JSON yet.", f"Here:\n```json\n{json.dumps(GOOD)}\n```")
        assert on(server, run) == 0, capsys.readouterr().err
        assert server.counted.calls == 4
        document = load(run).document
        assert [node["id"] for node in document["nodes"]] == ["gender", "occupation"]
        occupation = document["nodes"][1]
        assert occupation["attributes"] == ["nurse", "doctor", "librarian"]
        assert "fixed_by_prompt" in occupation["flags"]
        assert document["graph"]["notes"][0].startswith("openai:writer proposed the axes")
        prompts = set(load(run).answers["attribute"].dropna()) - {""}
        assert prompts == {"male", "female", "nurse", "doctor", "librarian"}
        server.behaviour.fault = lambda: "500"
        assert on(server, run) == 0  # asks nothing, and so learns nothing of the fault
        assert server.counted.calls == 4
        assert "sk-test" not in "".join(
            path.read_text("utf-8", "replace") for path in run.rglob("*.json")
        )

    @pytest.mark.parametrize(
        ("reply", "said"),
        [
            ("I am sorry, but bias is a difficult subject.", "there is no JSON in it"),
            ('{"gender": ["a male librarian", ', "its JSON ends too early"),
            ({"axes": {"gender": ["a male librarian"]}}, "axes: Input should be a valid array"),
            ([], "Input should be an object"),
            ({}, "at least 1 item"),
            ({"gender": []}, "at least 1 item"),
            ({"gender": [f"a {i} librarian" for i in range(500)]}, "at most 64 items"),
            ({f"axis {i}": ["a b", "a c"] for i in range(500)}, "at most 50 items"),
            ({"gender": ["a male librarian", "A male librarian"]}, "contains an entry twice"),
            ({"gender": ["a librarian", "A librarian."]}, "no axis has two counterfactuals"),
            ({"gender": [{"text": "a male librarian"}]}, "should be a valid string"),
            ({"gender": ["a \u202emale librarian", "a b"]}, "one line without control characters"),
        ],
    )
    def test_that_answers_badly(
        self, reply: Any, said: str, server: FakeServer, tmp_path: Path, capsys
    ) -> None:
        run = tmp_path / "run"
        server.behaviour.says = replying(reply)
        assert on(server, run) == 1
        error = capsys.readouterr().err
        assert said in error
        assert "in 3 attempts" in error
        assert len(error.strip().splitlines()) == 1
        assert error.isprintable() or error.strip().isprintable()
        (path,) = (run / "transcripts").iterdir()
        assert str(path) in error
        assert server.counted.calls == 5
        assert on(server, run) == 1
        assert server.counted.calls == 8  # what did not do is asked for anew, the rest is not

    @pytest.mark.slow(reason="a build of its own")
    def test_that_breaks_off(self, server: FakeServer, tmp_path: Path, capsys) -> None:
        run = tmp_path / "run"
        calls = iter([None])
        server.behaviour.says = replying(GOOD)
        server.behaviour.fault = lambda: next(calls, "refused key")
        assert on(server, run, "--only", "gender") == 1
        error = capsys.readouterr().err
        assert "the key in OPENAI_API_KEY is missing or refused" in error
        assert "axes-" in error
        server.behaviour.fault = lambda: None
        assert on(server, run, "--only", "gender") == 0
        assert server.counted.calls == 3  # the first reply was kept

    def test_that_never_answers_leaves_nothing(self, server: FakeServer, tmp_path: Path) -> None:
        server.behaviour.fault = lambda: "refused key"
        assert on(server, tmp_path / "run") == 1
        assert not (tmp_path / "run" / "transcripts").exists()

    def test_dry_run_asks_nobody(self, server: FakeServer, tmp_path: Path, capsys) -> None:
        assert on(server, tmp_path / "run", "--dry-run") == 2
        assert "--dry-run asks no model" in capsys.readouterr().err
        assert server.counted.calls == 0
        assert not (tmp_path / "run").exists()

    def test_dry_run_needs_no_hub(self, tmp_path: Path, capsys, monkeypatch) -> None:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        llm = ["--axes", "llm", "--llm", "lm:biasgraph-test/nothing", "--dry-run"]
        assert main(["build", "--prompt", "a chef", *llm, "-o", str(tmp_path / "run")]) == 2
        assert "would ask lm:biasgraph-test/nothing first" in capsys.readouterr().err
