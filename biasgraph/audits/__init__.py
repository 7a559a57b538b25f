"""One module or package for each thing a user can ask for; each reads like its method section."""
