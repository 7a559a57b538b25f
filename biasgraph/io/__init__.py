"""The only readers and writers of files that people name, and of what ships in templates/."""
