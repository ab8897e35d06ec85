"""The campaign against hostile input, faults of the machine and races: `python -m fuzz --help`."""
