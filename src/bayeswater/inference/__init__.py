"""From parameters to posteriors: log-joints, the log-normaliser, evidence, leave-one-out."""
