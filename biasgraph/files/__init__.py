"""The formats that people write: CSV and YAML, with the line of every entry."""
