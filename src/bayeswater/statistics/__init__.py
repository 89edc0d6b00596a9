"""The sums that everything is learned from: they add, what was added can be subtracted, and they hold no row."""
