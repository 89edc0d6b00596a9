static int share(double *score, double *probability) {
  double top = -INFINITY, whole = 0;
  int best = 0;
  for (int k = 0; k < N_CLASSES; k++) if (score[k] > top) top = score[k];
  if (top == -INFINITY) {
    memcpy(score, fallback, sizeof fallback);
    for (int k = 0; k < N_CLASSES; k++) if (score[k] > top) top = score[k];
  }
  for (int k = 0; k < N_CLASSES; k++) whole += probability[k] = exp(score[k] - top);
  for (int k = 0; k < N_CLASSES; k++) {
    probability[k] /= whole;
    if (probability[k] > probability[best]) best = k;
  }
  return best;
}
