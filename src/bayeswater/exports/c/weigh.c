/* What a term says of the class, log P(class | cell) / P(class), by its weights in a row that has so many terms. */
static void weigh(const double *term, const double *weight, double low, double high, double *score) {
  struct log_sum sum = EMPTY_SUM;
  int says = 0;
  for (int k = 0; k < N_CLASSES; k++) {
    says |= term[k] != 0;
    add_log(&sum, weighing_prior[k] + term[k]);
  }
  const double common = says ? log_of(sum) : 0;
  for (int k = 0; k < N_CLASSES; k++) {
    const double h = weight[k] > 1 ? high : low, whole = weight[k] * (1 - h) + h;
    score[k] += term[k] == -INFINITY ? term[k] : (term[k] - common) * (whole > 0 ? weight[k] / whole : 1);
  }
}
