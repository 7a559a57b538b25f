"""Pictures made elsewhere: which of them belong to which prompt, and how they enter a run.

`listing` looks into folders, `layouts`, `manifest` and `tibet` tell what lies where, `stock` looks
into the files, `pictured` turns it all into the work of a build.
"""
