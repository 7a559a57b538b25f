"""What a scheduler's step makes of a denoiser's output: the next latents, and the clean ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from biasgraph.errors import InputError

Step = Callable[..., Any]


def previous_sample(made: Any) -> Any:
    """The latents of a step's output, in whichever form it is given."""
    return made[0] if isinstance(made, tuple) else made.prev_sample


def with_sample(sample: Any, given: Mapping[str, Any]) -> Any:
    """Latents in the form in which a step was asked for them."""
    if given.get("return_dict", True) is False:
        return (sample,)
    from diffusers.schedulers.scheduling_utils import SchedulerOutput

    return SchedulerOutput(prev_sample=sample)


def clean_latents(scheduler: Any, step: Step, given: Mapping[str, Any]) -> Any:
    """The clean latents that a step predicts, by the scheduler's own prediction type.

    Args:
        scheduler: Of diffusers.
        step: Its own step.
        given: What the step is called with, by the names of its parameters.

    Raises:
        InputError: How this scheduler predicts is not known.
    """
    flow = type(scheduler).__name__.startswith("FlowMatch")
    if flow:
        return _of_flow(scheduler, given)
    before = getattr(scheduler, "step_index", None)
    made = step(**{**given, "return_dict": True})
    clean = getattr(made, "pred_original_sample", None)
    if clean is not None:
        return clean
    if hasattr(scheduler, "convert_model_output") and before is not None:
        return _by_sigma(scheduler, given, before)
    alphas = getattr(scheduler, "alphas_cumprod", None)
    if alphas is None or float(getattr(scheduler, "init_noise_sigma", 1.0)) != 1.0:
        raise InputError(
            f"{type(scheduler).__name__} does not tell which clean image a step predicts: choose "
            "another --scheduler, for example ddim or euler"
        )
    alpha = alphas[int(given["timestep"])].to(given["sample"])
    return _clean(scheduler, given, alpha**0.5, (1 - alpha) ** 0.5)


def _of_flow(scheduler: Any, given: Mapping[str, Any]) -> Any:
    """x0 = x - sigma v, as flow matching has it."""
    import torch

    index = scheduler.step_index
    if index is None:
        index = scheduler.begin_index or scheduler.index_for_timestep(given["timestep"])
    made = given["model_output"]
    sample = given["sample"].to(torch.promote_types(made.dtype, torch.float32))
    return (sample - scheduler.sigmas[index].to(sample) * made).to(made.dtype)


def _by_sigma(scheduler: Any, given: Mapping[str, Any], index: int) -> Any:
    """Of solvers that keep a table of sigmas (DPM-Solver, UniPC, DEIS)."""
    alpha, sigma = scheduler._sigma_to_alpha_sigma_t(scheduler.sigmas[index])
    return _clean(scheduler, given, alpha, sigma)


def _clean(scheduler: Any, given: Mapping[str, Any], alpha: Any, sigma: Any) -> Any:
    """x0 where x = alpha x0 + sigma e."""
    kind, sample, made = scheduler.config.prediction_type, given["sample"], given["model_output"]
    if kind == "epsilon":
        return (sample - sigma * made) / alpha
    if kind == "v_prediction":
        return alpha * sample - sigma * made
    if kind == "flow_prediction":
        return sample - sigma * made
    if kind == "sample":
        return made
    raise InputError(
        f"{type(scheduler).__name__} predicts '{kind}', which has no clean image that is known"
    )
