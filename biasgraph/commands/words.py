"""`biasgraph words`: which words of a prompt carry a bias."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from biasgraph.audits.words.evaluation_options import EvaluationOptions
from biasgraph.audits.words.words_options import WordsOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options
from biasgraph.errors import printable


class CommandWithSubcommands(click.RichGroup):
    """A command that works by itself unless one of its subcommands is named."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand alone, or the command."""
        named = [*ctx._protected_args, *ctx.args]
        own = self.callback
        self.callback = None if named else own
        try:
            return super().invoke(ctx)
        finally:
            self.callback = own

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a subcommand; raises click.UsageError for a prompt that stands in its place."""
        if args and self.get_command(ctx, args[0]) is None:
            meant = printable(args[0][:80])
            raise click.UsageError(
                f"unexpected argument '{meant}'. Did you mean --prompt '{meant}'?", ctx
            )
        return super().resolve_command(ctx, args)


@click.group(cls=CommandWithSubcommands, invoke_without_command=True)
@options_from(WordsOptions)
@output_options("words.json")
def words(options: WordsOptions, output: Output) -> None:
    """Find which words of a prompt carry a bias (GradBias).

    By gradient: the steps that made a few images are run again, and a word's influence is how much
    the judge's answers about the image that each step predicts depend on it. By removal: each
    content word is left out, images are made from the same seeds, and a word's influence on an
    axis is how much the answers change. Words whose effect chance could explain are not named. A
    rerun makes, follows and asks only what the run lacks.
    """
    from biasgraph.audits.words import measurement
    from biasgraph.audits.words.words_summary import summarize_plan, summarize_words

    if options.dry_run:
        output.present(measurement.plan(options), summarize_plan)
        return
    found = measurement.measure(options, output.progress(), command=sys.argv[1:])
    output.present(found.document, summarize_words, found.directory, "words.svg")


@words.command()
@options_from(EvaluationOptions)
@output_options("evaluation.json")
def evaluate(options: EvaluationOptions, output: Output) -> None:
    """Compare rankings of words with what removing the words does (GradBias, table 3).

    The truth is each word's influence by removal, judged by --truth-vqa. Compared with it are
    gradients in every reading, judged by --vqa, a random order, the order of the sentence's tree
    and, if they are named, a language model and a judge asked about each word. The result is how
    often a ranking begins with the truth's first word, with intervals over prompts. A rerun makes,
    follows and asks only what the run lacks.
    """
    from biasgraph.audits.words import evaluation
    from biasgraph.audits.words.evaluation_summary import summarize_evaluation, summarize_plan

    if options.dry_run:
        output.present(evaluation.plan(options), summarize_plan)
        return
    found = evaluation.evaluate(options, output.progress(), command=sys.argv[1:])
    output.present(found.document, summarize_evaluation, found.directory, "evaluation.svg")
