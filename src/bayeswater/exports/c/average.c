/* The mean of joints with each column in turn as the parent of all others, or their logarithms added by weights; naive
   Bayes where none can be. */
static int add_average(const int *code, double *score) {
  int state[AVERAGE_COLUMNS];
  double weight[AVERAGE_COLUMNS], whole = 0;
  for (int j = 0; j < AVERAGE_COLUMNS; j++) state[j] = code[average_cell[j]];
  if (AVERAGE_IMPLIES) {
    int kept[AVERAGE_COLUMNS];
    for (int j = 0; j < AVERAGE_COLUMNS; j++) {
      kept[j] = state[j];
      for (int i = 0; i < AVERAGE_COLUMNS; i++)
        if (average_implied[(average_slot[i] + state[i]) * AVERAGE_SLOTS + average_slot[j] + state[j]])
          kept[j] = average_states[j];
    }
    memcpy(state, kept, sizeof state);
  }
  for (int i = 0; i < AVERAGE_COLUMNS; i++) whole += weight[i] = average_weight[average_slot[i] + state[i]];
  if (!(whole > 0))
    for (int i = 0; i < AVERAGE_COLUMNS; i++) whole += weight[i] = average_even[average_slot[i] + state[i]];
#if AVERAGE_WEIGHED
  if (whole > 0) {
    int members = 0;
    for (int i = 0; i < AVERAGE_COLUMNS; i++) members += weight[i] > 0;
    for (int k = 0; k < N_CLASSES; k++) score[k] += average_prior[k] + weighing_shift[members * N_CLASSES + k];
    for (int i = 0; i < AVERAGE_COLUMNS; i++) {
      if (!(weight[i] > 0)) continue;
      const int slot = average_slot[i] + state[i];
      double term[N_CLASSES];
      for (int k = 0; k < N_CLASSES; k++) {
        term[k] = average_joint[slot * N_CLASSES + k] - (average_prior[k] > -INFINITY ? average_prior[k] : 0);
        for (int j = 0; j < AVERAGE_COLUMNS; j++)
          term[k] += average_given[((long)slot * AVERAGE_SLOTS + average_slot[j] + state[j]) * N_CLASSES + k];
      }
      weigh(term, i, members, score);
    }
    return 0;
  }
#endif
  for (int k = 0; k < N_CLASSES; k++) {
    if (!(whole > 0)) {
      score[k] += average_prior[k];
      for (int j = 0; j < AVERAGE_COLUMNS; j++) score[k] += average_marginal[(average_slot[j] + state[j]) * N_CLASSES + k];
      continue;
    }
    struct log_sum sum = EMPTY_SUM;
    for (int i = 0; i < AVERAGE_COLUMNS; i++) {
      if (!(weight[i] > 0)) continue;
      const int slot = average_slot[i] + state[i];
      double joint = log(weight[i]) + average_joint[slot * N_CLASSES + k];
      for (int j = 0; j < AVERAGE_COLUMNS; j++)
        joint += average_given[((long)slot * AVERAGE_SLOTS + average_slot[j] + state[j]) * N_CLASSES + k];
      add_log(&sum, joint);
    }
    score[k] += log_of(sum) - log(whole);
  }
  return 0;
}
