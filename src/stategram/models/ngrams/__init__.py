"""Back-off n-gram models: estimated from counts, as plain and as packed arrays, and changed afterwards."""
