"""How fast, how small and how good stategram is, beside other programs in the same run."""
