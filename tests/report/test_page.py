"""The report's page before any browser sees it: numbers, names, escaping, pictures, digest."""

from __future__ import annotations

import copy
import json
import os
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import biasgraph
from biasgraph.commands import cli, main
from biasgraph.data.findings import Finding, Images, Number, ShownImage
from biasgraph.data.result import load
from biasgraph.errors import InputError
from biasgraph.io import resources
from biasgraph.report import html, picture_data
from biasgraph.report import page as page_module
from biasgraph.report.page import report_files, report_html
from biasgraph.report.saving import write
from biasgraph.report.words import label
from biasgraph.runs.directory import open_run
from biasgraph.runs.local_engine import ask, declare, generate
from tests.answer_tables import AXES, librarian_table, with_controls
from tests.fake_models import GATE, QUESTIONS, TARGETS, FakeGenerator, FakeJudge, plan_of
from tests.hostile import HOSTILE, NAME, UNWRITABLE, named
from tests.sampled import sampled

Json = dict[str, Any]


def model_of(page: bytes) -> Json:
    """The data that the page's scripts read."""
    text = page.decode()
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
    assert found
    model: Json = json.loads(found[1])
    return model


def shown_images(model: Json) -> list[Json]:
    """Those that stand in a strip."""
    shown = {place for one in model["sets"] for place in one["images"]}
    return [model["images"][place] for place in sorted(shown)]


class Tags(HTMLParser):
    """The elements of a page and the texts outside of scripts and styles."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self._raw = False
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._raw = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._raw = False

    def handle_data(self, data: str) -> None:
        if not self._raw:
            self.texts.append(data)


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


@pytest.fixture(scope="module")
def page(result: biasgraph.Result) -> bytes:
    return report_html(result)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two prompts with pictures, and its result."""
    directory = tmp_path_factory.mktemp("runs") / "run"
    generator, judge = FakeGenerator(), FakeJudge()
    with open_run(directory, generator=generator, judges=[judge], seed=0) as run:
        declare(run, judge, QUESTIONS, GATE)
        plans = [plan_of("a nurse"), plan_of("a cook")]
        run.request(plans, images=14, targets=TARGETS, settings={})
        generate(run, generator)
        ask(run, judge, QUESTIONS, GATE, generator=generator)
        answers = run.answers(judge.spec)
    write(biasgraph.analyze(answers, bootstrap=100, min_valid=1), directory)
    return directory


def test_the_model_holds_the_document_as_it_is(result: biasgraph.Result, page: bytes) -> None:
    assert model_of(page)["document"] == result.document


def test_every_pair_with_the_numbers_of_pairs_csv(result: biasgraph.Result, page: bytes) -> None:
    model = model_of(page)
    size = len(result.document["nodes"])
    assert len(model["pairs"]) == size**2
    names = [node["id"] for node in result.document["nodes"]]
    records = {(one["source"], one["target"]): one for one in result.pair_records()}
    for k, pair in enumerate(model["pairs"]):
        assert divmod(k, size) == (pair["source"], pair["target"])
        record = records[names[pair["source"]], names[pair["target"]]]
        assert pair["flags"] == [flag for flag in record["flags"].split(";") if flag]
        for name in record.keys() - {"source", "target", "flags"}:
            assert pair[name] == record[name], name


def test_counts_of_every_set_give_the_tables_of_the_edges(
    result: biasgraph.Result, page: bytes
) -> None:
    model = model_of(page)
    assert model["document"]["links"]
    names = [node["id"] for node in result.document["nodes"]]
    for link in model["document"]["links"]:
        x, y = names.index(link["source"]), names.index(link["target"])
        columns = [model["axes"][y]["attributes"].index(one) for one in link["columns"]]
        rows = [one["counts"][y] for one in model["sets"] if one["axis"] == x]
        assert [[row[column] for column in columns] for row in rows] == link["table"]
    initial = model["sets"][0]
    assert (initial["axis"], initial["attribute"]) == (-1, -1)
    for y, node in enumerate(model["document"]["nodes"]):
        counts = node["initial"]
        assert initial["counts"][y] == [*counts["counts"], counts["n_unknown"], counts["n_gated"]]


def test_controls_are_a_set_of_their_own() -> None:
    plain = model_of(report_html(biasgraph.analyze(librarian_table(images=20), bootstrap=100)))
    frame = with_controls(librarian_table(images=20), images=7)
    model = model_of(report_html(biasgraph.analyze(frame, bootstrap=100)))
    *others, controls = model["sets"]
    assert others == plain["sets"]
    assert controls["axis"] == -2
    assert [sum(counts) for counts in controls["counts"]] == [7, 7, 7]


def test_unknown_and_gated_answers_are_counted_beside_the_table() -> None:
    frame = librarian_table(images=20)
    frame.loc[frame["target"] == "age", "answer"] = "unknown"
    frame.loc[frame.index[frame["target"] == "age"][:5], "answer"] = "gated"
    model = model_of(report_html(biasgraph.analyze(frame, bootstrap=100)))
    assert model["sets"][0]["counts"][1] == [0, 0, 0, 15, 5]
    assert all(pair["reason"] for pair in model["pairs"] if pair["target"] == 1)


def test_the_page_is_whole_and_asks_for_nothing(page: bytes) -> None:
    text = page.decode()
    tags = Tags(page).tags
    assert tags[:3] == ["html", "head", "meta"]
    assert text.startswith("<!doctype html>")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in unescape(policy[1]).split(";"))
    assert (rules["default-src"], rules["img-src"]) == ("'none'", "data:")
    assert "unsafe" not in policy[1]
    assert rules["script-src"].count("sha256-") == tags.count("script") - 1
    assert not re.findall(
        r"""(?:src|href)=["']?(?!data:|#)\w""", re.sub("<script.*?</script>", "", text, flags=re.S)
    )


@pytest.fixture(scope="module")
def tags_of_page(page: bytes) -> list[str]:
    return Tags(page).tags


@pytest.fixture(scope="module")
def unnamed() -> biasgraph.Result:
    axes = {NAME: (NAME, NAME + "!"), "gender": AXES["gender"]}
    frame = librarian_table(images=4, axes=axes, prompt=NAME, model=NAME)
    result = biasgraph.analyze(frame, min_valid=1, bootstrap=100)
    document = copy.deepcopy(result.document)
    document["graph"] |= {"subject": NAME + "?", "vqa": NAME, "unseen_words": [NAME]}
    document["graph"]["toy"] = document["graph"]["ideal"]["source"] = NAME
    return replace(result, document=document)


@pytest.mark.parametrize("text", sampled(text for text in HOSTILE if text not in UNWRITABLE))
def test_hostile_names_add_no_element(
    text: str, unnamed: biasgraph.Result, tags_of_page: list[str]
) -> None:
    hostile = report_html(named(unnamed, text))
    tags = Tags(hostile)
    assert set(tags.tags) <= set(tags_of_page)
    assert tags.tags.count("script") == tags_of_page.count("script")
    assert label(text) in "".join(tags.texts)
    model = model_of(hostile)
    assert model["axes"][0] == {
        "label": label(text),
        "attributes": [label(text), label(text + "!")],
    }


def test_data_cannot_leave_its_element() -> None:
    text = html.json_for_html({"</script><!--": "&amp;\u2028\u2029<script>\ud800"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"</script><!--": "&amp;\u2028\u2029<script>\ud800"}


def test_scripts_of_ours_can_stand_in_a_page() -> None:
    for name in resources.names("report", ""):
        text = resources.read_text("report", name)
        if name.endswith((".js", ".css")):
            assert "</script" not in text.lower()
            assert "</style" not in text.lower()
            assert "<!--" not in text
            assert text.isascii() or name.endswith(".css") or "\u2028" not in text
        if name.endswith(".js"):
            assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
            assert '"use strict"' in text


def test_pictures_are_the_first_of_every_set(run: Path) -> None:
    result = load(run)
    model = model_of(report_html(result))
    assert len(model["sets"]) == 1 + 2 + 3 + 3
    answers = result.answers.astype(str)
    for one in model["sets"]:
        assert len(one["images"]) == 12
        images = [model["images"][i] for i in one["images"]]
        assert len({image["id"] for image in images}) == 12
        texts = {model["texts"][image["text"]].partition(",")[0] for image in images}
        assert texts == {"a nurse", "a cook"}, "of several prompts, some of each"
        for image in images:
            assert image["src"].startswith("data:image/png;base64,")
            said = answers[answers["image"] == image["id"]].set_index("target")["answer"]
            for axis, node in enumerate(model["document"]["nodes"]):
                code = image["answers"][axis]
                word = {-1: "unknown", -2: "gated"}.get(code)
                assert said[node["id"]] == (word or node["attributes"][code])


@pytest.mark.slow(reason="a build of its own")
def test_the_reports_of_a_run_of_several_prompts(run: Path) -> None:
    result = load(run)
    files = report_files(result)
    folders = [one["directory"] for one in result.document["graph"]["prompts"]]
    assert list(files) == ["report.html", *(f"{folder}/report.html" for folder in folders)]
    rows = model_of(files["report.html"])["prompts"]["rows"]
    assert [row["href"] for row in rows] == [f"{folder}/report.html" for folder in folders]
    for folder in folders:
        inner = files[f"{folder}/report.html"].decode()
        assert 'href="../../report.html"' in inner
        assert not any(sources(files[f"{folder}/report.html"])), "they are the run's files"
        assert model_of(files[f"{folder}/report.html"])["files"] == "../../images/"
    alone = report_html(load(run / folders[0])).decode()
    assert 'href="../../report.html"' in alone
    assert all(sources(report_html(load(run / folders[0]), links=False)))
    assert "report.html" not in report_html(result, links=False).decode()


def test_without_images(run: Path) -> None:
    model = model_of(report_html(load(run), images=False))
    assert model["images"] == []
    assert all(one["images"] == [] for one in model["sets"])


def test_missing_and_damaged_pictures_are_left_out_and_counted(run: Path, tmp_path: Path) -> None:
    import shutil

    copy_ = tmp_path / "run"
    shutil.copytree(run, copy_)
    files = sorted((copy_ / "images").iterdir())
    for file in files:
        file.write_bytes(b"damaged")
    page = report_html(load(copy_))
    model = model_of(page)
    assert all(image["src"] is image["file"] is None for image in shown_images(model))
    assert f"{len(shown_images(model))} pictures are left out" in page.decode()
    assert model["images"][0]["answers"]


@pytest.mark.slow(reason="a build of its own")
def test_a_report_is_written_again_only_when_something_changed(run: Path, tmp_path: Path) -> None:
    import shutil

    copy_ = tmp_path / "run"
    shutil.copytree(run, copy_)
    result = load(copy_)
    assert report_files(result, only_changed=True) == {}, "the result was written with its reports"
    for file in copy_.rglob("report.html"):
        file.unlink()
    assert len(report_files(result, only_changed=True)) == 3
    assert CliRunner().invoke(cli, ["report", str(copy_)]).exit_code == 0
    assert report_files(result, only_changed=True) == {}
    assert len(report_files(result)) == 3
    assert set(report_files(result, images=False, only_changed=True)) == set(report_files(result))
    document = copy.deepcopy(result.document)
    document["graph"]["seed"] = 7
    changed = replace(result, document=document)
    assert list(report_files(changed, only_changed=True)) == ["report.html"]
    shown = model_of((copy_ / "report.html").read_bytes())["sets"][0]["images"]
    assert shown
    for file in (copy_ / "images").iterdir():
        file.unlink()
    assert len(report_files(result, only_changed=True)) == 3


def test_the_page_is_the_same_every_time(result: biasgraph.Result, page: bytes, run: Path) -> None:
    assert report_html(result) == page
    assert report_html(load(run)) == report_html(load(run))


def test_findings_are_drawn_from_their_parts(run: Path) -> None:
    result = load(run)
    document = copy.deepcopy(result.document)
    image = str(result.answers["image"].iloc[-1])
    finding = Finding(
        "A title",
        "About.",
        [Number("n", 0.5, n=3), Images([ShownImage(image), ShownImage("gone")])],
    )
    document["nodes"][0]["findings"] = {"some_method": finding.to_json()}
    model = model_of(report_html(replace(result, document=document)))
    [found] = model["findings"]["nodes"][0]
    assert (found["title"], found["show"][0]["value"]) == ("A title", 0.5)
    first, second = (item["image"] for item in found["show"][1]["items"])
    assert model["images"][first]["id"] == image
    assert model["images"][first]["src"]
    assert model["images"][second]["src"] is None
    assert model["findings"]["graph"] == []


def sources(page: bytes) -> list[str | None]:
    """Of every picture that the page shows: its data URI, or None."""
    return [image["src"] for image in shown_images(model_of(page))]


def test_a_page_keeps_to_its_size_and_links_what_has_no_room(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = load(run)
    whole = report_files(result)["report.html"]
    monkeypatch.setattr(page_module, "PAGE", len(whole) + 2 * page_module.SENTENCES)
    assert all(sources(report_files(result)["report.html"]))
    monkeypatch.setattr(page_module, "PAGE", len(whole))
    page = report_files(result)["report.html"]
    assert len(page) <= len(whole)
    kinds = [src is not None for src in sources(page)]
    assert kinds == sorted(kinds, reverse=True), "those that come first are embedded"
    assert kinds[0]
    assert f"{kinds.count(False)} more are links to the run&#39;s files" in page.decode()
    monkeypatch.setattr(page_module, "PAGE", 0)
    for place, page in report_files(result).items():
        assert set(sources(page)) == {None}
        assert "img-src data: &#39;self&#39; file:;" in page.decode()
        model = model_of(page)
        for image in model["images"]:
            assert ((run / place).parent / f"{model['files']}{image['file']}.png").is_file()
    apart = report_html(result, links=False)
    assert set(sources(apart)) == {None}
    assert model_of(apart)["files"] is None
    assert "img-src data:;" in apart.decode(), "nothing to load from the disk"
    assert "left out for lack of room" in apart.decode()


def test_every_image_is_listed_with_what_the_judge_said(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = load(run)
    model = model_of(report_html(result))
    answers = result.answers.astype(object).fillna("").astype(str)
    assert {image["id"] for image in model["images"]} == set(answers["image"])
    assert len(model["images"]) == 2 * 9 * 14 > len(shown_images(model)) == 9 * 12
    asked = answers.drop_duplicates("image").set_index("image")
    for image in model["images"]:
        one = model["sets"][image["set"]]
        axis = "" if one["axis"] < 0 else model["document"]["nodes"][one["axis"]]["id"]
        assert asked.loc[image["id"], "axis"] == axis
        assert int(image["seed"]) >= 0
    monkeypatch.setattr(picture_data, "LISTED", len(model["images"]) - 1)
    model = model_of(report_html(result))
    assert len(model["images"]) == len(shown_images(model)) == 9 * 12


def test_a_result_of_other_files_is_refused(result: biasgraph.Result) -> None:
    pairs = result.pairs[result.pairs["source"] != "age"]
    other = replace(result, frames=replace(result.frames, pairs=pairs))
    with pytest.raises(InputError, match=r"pairs\.csv does not fit graph\.json"):
        report_html(other)


def test_the_command_writes_where_it_is_told(
    result: biasgraph.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    biasgraph.save(result, tmp_path / "out")
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_bytes()
    assert main(["report", str(tmp_path / "out"), "-o", str(tmp_path / "page.html")]) == 0
    assert model_of((tmp_path / "page.html").read_bytes()) == model_of(page)
    assert "Wrote " in capsys.readouterr().out
    assert main(["report", str(tmp_path)]) == 2
    assert main(["report", str(tmp_path / "out"), "-o", str(tmp_path)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2
    assert "holds no result" in errors[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_no_page(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.html")
    assert html.digest_in(tmp_path / "report.html") is None
    assert not html.is_page(tmp_path / "report.html")
