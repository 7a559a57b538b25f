"""The closed vocabulary of what may be said about a number besides its value."""

from __future__ import annotations

STATUS_WORDS: dict[str, str] = {
    "ok": "computed as defined",
    "degenerate": "the table has fewer than two non-empty rows or columns: nothing to test",
    "insufficient": "too few valid answers in the initial images or in one of the interventions",
}

CLAIMS = ("towards", "away")
"""The signs that say a direction."""

VERDICT_WORDS: dict[str, str] = {
    "towards": "diversifying moves the target towards its ideal",
    "away": "diversifying moves the target away from its ideal",
    "below_delta": "the arms differ, but diversifying hardly changes the distance to the ideal",
    "edge_undetermined": "the arms differ; the direction in which diversifying moves the target "
    "lies within chance",
    "common_shift": "no difference between the arms is shown; together they differ from the "
    "initial images",
    "below_min_v": "no link of a strength worth looking for",
    "undecided": "no link found, and none excluded",
}

VERDICT_NAMES: dict[str, str] = {
    "towards": "towards ideal",
    "away": "away from ideal",
    "below_delta": "below delta",
    "edge_undetermined": "undetermined",
    "common_shift": "common shift",
    "below_min_v": "below min. V",
    "undecided": "undecided",
}
"""The same for columns of tables."""

FLAG_WORDS: dict[str, str] = {
    # on nodes, pairs or both
    "small_sample": "fewer than 32 valid answers in at least one set of images",
    "near_ideal": "the initial images cannot be told from the ideal; the sensitivity leans upwards",
    "single_answer": "all valid answers of at least one set of images are the same",
    "differential_loss": "answers were lost unevenly across the interventions (chi-square p < .01)",
    "weak_intervention": "naming the intervened axis's attributes hardly changed that axis itself",
    "no_intervention": "no images were made for any attribute of the intervened axis",
    "missing_arms": "some attributes of the intervened axis have no images of their own",
    "fixed_by_prompt": "the prompt already fixes an attribute of this axis",
    "prompts_cancel": "one by one, the prompts are clearly further from the ideal than their sum: "
    "they lean different ways, which cancels in the sum",
    "moved_by_wording": "neutral rewordings alone move the answers",
    # on pairs
    "wording": "neutral rewordings do not confirm the direction, so it is not claimed",
    "expected_low": "expected counts are too low for the asymptotic chi-square test",
    "unequal_arms": "the interventions differ by over 10 % in valid answers; "
    "equally many of each are kept for the matched sensitivity",
    "too_few_to_match": "an intervention has too few valid answers to match sample sizes",
    "below_min_is": "the test would make it an edge, but |IS| is below the graph's cut",
    "uneven_prompts": "prompts have unequal weights in the initial images and in the "
    "interventions, so IS, unlike the matched sensitivity, includes differences between prompts",
    "opposite_mean": "the sum of the prompts moves one way, the average prompt the other: "
    "differences between prompts cancel in the sum",
    # on the graph and its pairs
    "adaptive": "images were made until pairs were decided: intervals and levels are those of the "
    "look at which a pair stopped, and hold over all looks",
    # on the graph
    "mixed_metrics": "the axes are measured by different metrics, so their sum mixes scales",
    "incomplete_sum": "the amplification sums only the pairs whose sensitivity is defined",
    "values_metric": "the metric `values` ignores which attribute is which",
    "no_interventions": "no counterfactual images were given, so no pair of axes can be tested",
    "shared_images": "the same pictures are in several sets; each set counts them, and tests and "
    "intervals treat the sets as independent",
    "nothing_decided": "no pair had enough valid answers to be decided",
}
