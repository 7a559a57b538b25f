"""A result as Every Eval Ever has it (schema 0.3): scores in one JSON, every answer in a JSONL.

Each row of the JSONL is one answer about one image and belongs to one score: of an initial image to
the distance of the axis that was asked about, of a counterfactual one to the pair of axes, or to
the manipulation check where both are the same. What is undefined has no score, since the schema
wants a number; its reason stands in `source_metadata`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from biasgraph.causal.flags import FLAG_WORDS, STATUS_WORDS
from biasgraph.io.folder_names import slug
from biasgraph.io.json_files import to_json
from biasgraph.models.inference_options import Spec
from biasgraph.report import judge_words, rounds_words, verdict_words, words
from biasgraph.report.build_record import BuildRecord, identity
from biasgraph.report.caveats import caveats
from biasgraph.report.thumbnails import Pictures

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Record = Mapping[str, Any]
SCHEMA = "0.3.0"
NAME = "biasgraph"
HUB = ("diffusers",)
"""Backends whose models have names of the Hugging Face hub."""
ABOUT = ("prompt", "role", "axis", "attribute", "target", "confidence", "judge")
"""What is told of an answer besides."""
UNSTATED = "not stated"
SCORES = (
    "No answer is right or wrong, except for the manipulation check (the results accuracy/...): "
    "there score is 1 where the answer is what the prompt asked for. Elsewhere it is 1 where the "
    "answer is one of input.choices, and counts, and 0 where it is not (unknown, gated). "
    "is_correct says the same."
)


def eval_files(result: Result) -> dict[str, bytes]:
    """data/biasgraph/DEVELOPER/MODEL/UUID.json and UUID_samples.jsonl, as the data set names them.

    Raises:
        InputError: the run's record is damaged.
    """
    audit = _Audit.of(result)
    developer, _, model = audit.model_id.partition("/")
    uuid = identity(result)
    base = f"data/{NAME}/{slug(developer)}/{slug(model)}/{uuid}"
    samples = "".join(f"{_json(row)}\n" for row in _samples(audit)).encode("utf-8", "replace")
    document = _log(audit) | {
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{base}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples).hexdigest(),
            "total_rows": len(result.answers),
            "additional_details": {"evaluation": SCORES},
        }
    }
    return {f"{base}.json": to_json(document), f"{base}_samples.jsonl": samples}


@dataclass(frozen=True)
class _Audit:
    """What is exported.

    Attributes:
        result: The result.
        record: How it was made.
        model_id: "developer/model", as the schema has it.
        evaluation_id: The same in every export of the same audit.
        scores: The results by their id.
        undefined: Why others have none.
    """

    result: Result
    record: BuildRecord
    model_id: str
    evaluation_id: str
    scores: Mapping[str, Record]
    undefined: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result) -> _Audit:
        model = model_id(result.document["graph"]["model"])
        scores, undefined = {}, {}
        for name, score in _scores(result):
            if isinstance(score, str):
                undefined[name] = score
            else:
                scores[name] = {"evaluation_result_id": name, **score}
        id_of_all = f"{NAME}/{model.replace('/', '_')}/{identity(result)}"
        return cls(result, BuildRecord.of(result), model, id_of_all, scores, undefined)


def model_id(text: str) -> str:
    """The developer and the model of a spec, with a slash between them.

    The backend stands for a developer that the spec does not name.
    """
    spec = Spec(text)
    if spec.backend in HUB and spec.name.count("/") == 1:
        return spec.name
    return f"{spec.backend}/{spec.name}" if spec.rest else f"unknown/{text}"


def _log(audit: _Audit) -> dict[str, Any]:
    """The aggregate document, but for where its samples are."""
    graph = audit.result.document["graph"]
    date = audit.record.date
    created = date or datetime.now(UTC)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": audit.evaluation_id,
        **({} if date is None else {"evaluation_timestamp": date.isoformat()}),
        "retrieved_timestamp": str(int(created.timestamp())),
        "source_metadata": {
            "source_name": NAME,
            "source_type": "evaluation_run",
            "source_organization_name": UNSTATED,
            "evaluator_relationship": "other",
            "additional_details": _about(audit),
        },
        "eval_library": {
            "name": NAME,
            "version": graph["versions"].get("biasgraph", "unknown"),
            "additional_details": _texts({"settings": graph["settings"]}),
        },
        "model_info": _model(audit),
        "evaluation_results": list(audit.scores.values()),
    }


def _about(audit: _Audit) -> dict[str, str]:
    """What was audited, what limits it, and what could not be scored."""
    document = audit.result.document
    graph = document["graph"]
    limits = [*caveats(document), *judge_words.caveats_of_graph(graph)]
    limits.append(judge_words.about_labels([graph]))
    ideal = words.ideal_words(graph, len(document["nodes"]))
    prompts = [graph["prompt"]] if graph["prompt"] is not None else graph["prompts"]
    told = {
        "toy": graph["toy"],
        "prompts": [one if isinstance(one, str) else one["prompt"] for one in prompts],
        "judge": graph["vqa"],
        "judge_fingerprint": graph.get("vqa_fingerprint"),
        "judge_validated": words.plain(judge_words.describe_validation(graph) or "") or None,
        "images": graph["images"],
        "ideal": words.plain(ideal),
        "axes": graph["axes"],
        "limits": [words.plain(limit) for limit in limits],
        "command": audit.record.shell or None,
    }
    missing = {f"no score: {name}": why for name, why in audit.undefined.items()}
    return _texts(told | missing)


def _model(audit: _Audit) -> dict[str, Any]:
    graph = audit.result.document["graph"]
    details = {
        "deployment_type": "unknown",
        "model_availability": "unknown",
        "fingerprint": graph.get("model_fingerprint"),
        "settings": dict(audit.record.model_settings) or None,
        "seed": graph.get("seed"),
    }
    name = {"name": graph["model"], "id": audit.model_id}
    return {**name, "additional_details": _texts(details)}


def _scores(result: Result) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Every score by its id, or why there is none."""
    document = result.document
    graph, nodes = document["graph"], {node["id"]: node for node in document["nodes"]}
    for node in nodes.values():
        yield _id("w1", node["id"]), _distance(node, graph)
        if node.get("control"):
            yield _id("control", node["id"]), _control(node, graph)
    if words.is_without_interventions(graph):
        yield "is", FLAG_WORDS["no_interventions"]
        return
    for node in nodes.values():
        yield _id("accuracy", node["id"]), _accuracy(node, graph)
    for pair in words.between(result.pair_records()):
        target = nodes[pair["target"]]
        yield _id("is", pair["source"], pair["target"]), _sensitivity(pair, target, graph)


def _id(*parts: str) -> str:
    return "/".join(quote(part, safe=" ", errors="replace") for part in parts)


def _distance(node: Record, graph: Record) -> dict[str, Any] | str:
    if node["w1"] is None:
        return STATUS_WORDS["insufficient"]
    initial = node["initial"]
    details = {
        **{name: node[name] for name in ("attributes", "ideal", "near_ideal", "flags")},
        "shares": initial["distribution"],
        "share_intervals": node["distribution_ci"],
        **{name: initial[name] for name in ("counts", "n_total", "n_unknown", "n_gated")},
        "by_chance_q95": node["w1_null"]["q95"],
    }
    about = "Wasserstein-1 distance of the initial images' answers to the ideal distribution"
    kind = ("w1", "distance to the ideal", about, True, 0.0, _largest(node))
    ends = node["w1_ci"] or (None, None)
    return _score(node["id"], kind, node["w1"], ends, initial["n_valid"], details, graph)


def _control(node: Record, graph: Record) -> dict[str, Any] | str:
    control = node["control"]
    if control["w1"] is None:
        return STATUS_WORDS["insufficient"]
    about = "the same distance of the images of neutral rewordings"
    kind = ("w1", "distance to the ideal", about, True, 0.0, _largest(node))
    name, count = f"{node['id']}.control", control["n_valid"]
    return _score(name, kind, control["w1"], (None, None), count, control, graph)


def _accuracy(node: Record, graph: Record) -> dict[str, Any] | str:
    check = node["diagonal"]
    if check["accuracy"] is None:
        return STATUS_WORDS["insufficient"]
    about = "manipulation check: answers that name the attribute that the prompt asked for"
    kind = ("accuracy", "accuracy", about, False, 0.0, 1.0)
    ends = (None, None)
    name = f"{node['id']}.{node['id']}"
    return _score(name, kind, check["accuracy"], ends, None, check, graph)


def _sensitivity(pair: Record, target: Record, graph: Record) -> dict[str, Any] | str:
    if pair["is"] is None:
        return verdict_words.reason(pair)
    about = (
        "Intersectional Sensitivity: what diversifying the first axis takes off (+) or adds to (-) "
        "the second one's distance to its ideal"
    )
    most = _largest(target)
    kind = ("is", "Intersectional Sensitivity", about, False, -most, most)
    ends = (pair["is_ci_low"], pair["is_ci_high"])
    name = f"{pair['source']}.{pair['target']}"
    return _score(name, kind, pair["is"], ends, None, pair, graph)


def _largest(node: Record) -> float:
    """The largest distance that there can be in a node's metric."""
    size = len(node["attributes"])
    if node["metric"] == "index":
        return float(size - 1)
    if node["metric"] == "values":
        return 2 / size
    return float(max(map(max, node["cost"]))) if node["metric"] == "cost" else 1.0


def _score(
    name: str,
    kind: tuple[str, str, str, bool, float, float],
    value: float,
    ends: tuple[float | None, float | None],
    count: int | None,
    details: Record,
    graph: Record,
) -> dict[str, Any]:
    """One of the results; kind: id, name, meaning, whether less is better, and the ends of it."""
    metric, metric_name, about, less, low, high = kind
    config = {
        "evaluation_description": about,
        "metric_id": metric if metric == "accuracy" else f"{NAME}.{metric}",
        "metric_name": metric_name,
        "lower_is_better": less,
        "score_type": "continuous",
        "min_score": low,
        "max_score": high,
        "additional_details": _texts({"judge": graph["vqa"]}),
    }
    uncertainty: dict[str, Any] = {} if count is None else {"num_samples": count}
    if ends[0] is not None and ends[1] is not None:
        uncertainty["confidence_interval"] = {
            "lower": ends[0],
            "upper": ends[1],
            "confidence_level": 1 - 0.05 / max(1, len(rounds_words.looks_of(graph))),
            "method": "bootstrap",
        }
        uncertainty["num_bootstrap_samples"] = graph["settings"]["bootstrap"]
    return {
        "evaluation_name": f"{NAME}.{name}",
        "source_data": {"dataset_name": NAME, "source_type": "other"},
        "metric_config": config,
        "score_details": {
            "score": value,
            "details": _texts(details),
            **({"uncertainty": uncertainty} if uncertainty else {}),
        },
    }


def _samples(audit: _Audit) -> Iterator[dict[str, Any]]:
    """A row for each answer about each image."""
    result = audit.result
    choices = {node["id"]: node["attributes"] for node in result.document["nodes"]}
    pictures = Pictures.of(result.directory).rows
    graph = result.document["graph"]
    method = "human" if graph.get("people") else "llm_judge"
    frame = result.answers.astype(object)
    frame = frame.where(frame.notna(), None)
    names = [str(name) for name in frame.columns]
    for cells in frame.itertuples(index=False, name=None):
        row = dict(zip(names, cells, strict=True))
        picture = pictures.get(row["image"])
        asked, made = row["prompt"], row["image"]
        if picture is not None:
            asked, made = picture.text, f"images/{picture.file.sha256}.png"
        score, evaluation = _name_score(row)
        answer, own = row["answer"], choices[row["target"]]
        reference = [row["attribute"]] if row["axis"] == row["target"] else []
        right = answer in (reference or own)
        yield {
            "schema_version": SCHEMA,
            "evaluation_id": audit.evaluation_id,
            "model_id": audit.model_id,
            "evaluation_name": evaluation,
            **({"evaluation_result_id": score} if score in audit.scores else {}),
            "sample_id": row["image"],
            "sample_hash": _sample_hash(asked, tuple(reference)),
            "interaction_type": "single_turn",
            "input": {"raw": asked, "reference": reference, "choices": own},
            "output": {"raw": [made]},
            "answer_attribution": [_attribution(answer, method)],
            "evaluation": {"score": float(right), "is_correct": right},
            "metadata": _texts({name: row.get(name) for name in ABOUT} | {"toy": graph["toy"]}),
        }


def _attribution(answer: str, method: str) -> dict[str, Any]:
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": answer,
        "extraction_method": method,
        "is_terminal": True,
    }


def _name_score(row: Record) -> tuple[str, str]:
    """The id and the name of the score that an answer belongs to."""
    target, axis = row["target"], row["axis"]
    if row["role"] == "initial":
        return _id("w1", target), f"{NAME}.{target}"
    if row["role"] == "control":
        return _id("control", target), f"{NAME}.{target}.control"
    ids = ("accuracy", target) if axis == target else ("is", axis, target)
    return _id(*ids), f"{NAME}.{axis}.{target}"


@lru_cache(maxsize=4096)
def _sample_hash(asked: str, reference: tuple[str, ...]) -> str:
    """As the project's own adapters compute it, to join samples of several models."""
    known = {"raw": asked, "reference": list(reference)}
    text = json.dumps(known, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _texts(values: Record) -> dict[str, str]:
    """Values as the texts that the schema wants; what is undefined is left out."""
    return {
        name: value if isinstance(value, str) else _json(value)
        for name, value in values.items()
        if value is not None
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
