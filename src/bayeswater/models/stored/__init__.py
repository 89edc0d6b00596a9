"""How sums, plans, domains and calibrations are written as documents and arrays, and read back."""
