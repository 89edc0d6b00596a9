"""What rows say of a fitted model, to be read by people: audits of groups, and reports as one file."""
