"""Files to ids: reading, tokenising, vocabularies."""
