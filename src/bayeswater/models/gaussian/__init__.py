"""`GaussianClassifier`: classes as normal densities, from the full covariance down to the sphere."""
