"""Carries a run's work to models: what is missing is cut into batches, done and recorded.

`local` does it in this process. Every engine cuts with `batches` and asks with `questions`, so
that a run may be continued by another one. `modelwork` is the work of a build, from its options to
its answers; `media` shows a run's pictures to methods; `transcripts` keeps conversations.
"""
