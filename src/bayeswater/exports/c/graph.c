/* Columns with several parents: missing cells that others, which are there, depend on are summed over. */
static const real *graph_row(int j, const int *state) {
  int place = 0;
  for (int i = graph_first[j]; i < graph_first[j + 1]; i++) {
    const int column = graph_member[i];
    place = place * (graph_states[column] + 1) + state[column];
  }
  return graph_table + graph_start[j] + (long)place * N_CLASSES;
}

static int graph_knows(int j, const char *gap) {
  for (int i = graph_first[j]; i < graph_first[j + 1]; i++)
    if (gap[graph_member[i]]) return 1;
  return 0;
}

/* Add what columns say; gaps are summed over one by one, and apart where no column knows two of them. */
static int add_summed(int *state, const char *gap, const char *used, int *left, double *score) {
  char rest[GRAPH_COLUMNS] = {0};
  for (int j = 0; j < GRAPH_COLUMNS; j++) {
    if (!used[j]) continue;
    rest[j] = (char)graph_knows(j, gap);
    const real *row = graph_row(j, state);
    for (int k = 0; k < N_CLASSES && !rest[j]; k++) score[k] += row[k];
  }
  for (int start = 0; start < GRAPH_COLUMNS; start++) {
    if (!rest[start]) continue;
    char part[GRAPH_COLUMNS] = {0}, own[GRAPH_COLUMNS] = {0};
    int known[GRAPH_COLUMNS] = {0}, first = -1;
    for (int j = start; j < GRAPH_COLUMNS; j++) { /* the start, then whatever shares a gap with one that is taken */
      if (!rest[j] || (j != start && !graph_knows(j, own))) continue;
      rest[j] = 0, part[j] = 1;
      for (int i = graph_first[j]; i < graph_first[j + 1]; i++) {
        const int m = graph_member[i];
        if (!gap[m]) continue;
        own[m] = 1, known[m]++;
        if (first < 0 || known[m] > known[first]) first = m;
      }
      j = start - 1; /* from the beginning */
    }
    own[first] = 0;
    struct log_sum sums[N_CLASSES];
    for (int k = 0; k < N_CLASSES; k++) sums[k] = EMPTY_SUM;
    for (state[first] = 0; state[first] < graph_states[first]; state[first]++) {
      double below[N_CLASSES] = {0};
      if (--*left < 0 || add_summed(state, own, part, left, below) < 0) return -1;
      for (int k = 0; k < N_CLASSES; k++) add_log(&sums[k], below[k]);
    }
    for (int k = 0; k < N_CLASSES; k++) score[k] += log_of(sums[k]);
  }
  return 0;
}

static int add_graph(const int *code, double *score) {
  int state[GRAPH_COLUMNS], left = MOST_FILLED;
  char gap[GRAPH_COLUMNS] = {0}, used[GRAPH_COLUMNS];
  for (int j = 0; j < GRAPH_COLUMNS; j++) state[j] = code[graph_cell[j]];
  for (int at = GRAPH_COLUMNS - 1; at >= 0; at--) { /* children before their parents */
    const int j = graph_order[at];
    used[j] = state[j] < graph_states[j] || gap[j];
    for (int i = graph_first[j]; i < graph_first[j + 1] - 1 && used[j]; i++) {
      const int p = graph_member[i];
      if (state[p] >= graph_states[p] && graph_states[p]) gap[p] = 1;
    }
  }
  return add_summed(state, gap, used, &left, score);
}
