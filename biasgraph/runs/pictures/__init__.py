"""Pictures made elsewhere: which of them belong to which prompt, and how they enter a run.

`listing` looks into folders; `layouts`, `manifest` and `tibet_folder` tell what lies where;
`inspection` looks into the files; `read_picture_sets` turns it all into the work of a build.
"""
