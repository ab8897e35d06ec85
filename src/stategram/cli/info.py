"""`stategram info`: what a model is."""
