"""`stategram counts`: n-gram counts."""
