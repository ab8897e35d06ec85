"""Word classes, context states and language models from plain text."""
