"""Words of a text: counted, counted in all other classes, or marked."""
