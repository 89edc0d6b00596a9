/* What the i-th term says of the class, log P(class | cell) / P(class), by its weights in a row with so many of them. */
static void weigh(const double *term, int i, int known, double *score) {
  struct log_sum sum = EMPTY_SUM;
  for (int k = 0; k < N_CLASSES; k++) add_log(&sum, weighing_prior[k] + term[k]);
  const double common = sum.rest > 0 ? log_of(sum) : 0, doubt = weighing_doubt[i] * weighing_bounded[known];
  for (int k = 0; k < N_CLASSES; k++) {
    const double slope = weighing_slope[i * N_CLASSES + k];
    double said = term[k] - common;
    if (doubt > 0 && said > -INFINITY) said = log((1 - doubt) * exp(said) + doubt);
    score[k] += said / (1 + (slope < 0 ? weighing_high : weighing_low)[known] * slope);
  }
}
