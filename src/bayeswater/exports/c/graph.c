/* Columns with several parents: missing cells that others, which are there, depend on are summed over. */
static const real *graph_row(int j, const int *state) {
  int place = 0;
  for (int i = graph_first[j]; i < graph_first[j + 1]; i++) {
    const int column = graph_member[i];
    place = place * (graph_states[column] + 1) + state[column];
  }
  return graph_table + graph_start[j] + (long)place * N_CLASSES;
}

static int add_graph(const int *code, double *score) {
  int state[GRAPH_COLUMNS], gap[GRAPH_COLUMNS] = {0}, hard[GRAPH_COLUMNS] = {0};
  double filled = 1;
  for (int j = 0; j < GRAPH_COLUMNS; j++) state[j] = code[graph_cell[j]];
  for (int at = GRAPH_COLUMNS - 1; at >= 0; at--) { /* children before their parents */
    const int j = graph_order[at];
    if (state[j] >= graph_states[j] && !gap[j]) continue;
    for (int i = graph_first[j]; i < graph_first[j + 1] - 1; i++) {
      const int p = graph_member[i];
      if (state[p] >= graph_states[p] && graph_states[p]) gap[p] = hard[j] = 1;
    }
  }
  for (int j = 0; j < GRAPH_COLUMNS; j++) {
    if (gap[j]) hard[j] = 1, filled *= graph_states[j], state[j] = 0;
  }
  if (filled > MOST_FILLED) return -1;
  for (int j = 0; j < GRAPH_COLUMNS; j++) {
    if (hard[j]) continue;
    const real *row = graph_row(j, state);
    for (int k = 0; k < N_CLASSES; k++) score[k] += row[k];
  }
  if (filled == 1) {
    int any = 0;
    for (int j = 0; j < GRAPH_COLUMNS; j++) any |= hard[j];
    if (!any) return 0;
  }
  struct log_sum sums[N_CLASSES];
  for (int k = 0; k < N_CLASSES; k++) sums[k] = EMPTY_SUM;
  for (;;) {
    double part[N_CLASSES] = {0};
    for (int j = 0; j < GRAPH_COLUMNS; j++) {
      if (!hard[j]) continue;
      const real *row = graph_row(j, state);
      for (int k = 0; k < N_CLASSES; k++) part[k] += row[k];
    }
    for (int k = 0; k < N_CLASSES; k++) add_log(&sums[k], part[k]);
    int j = 0;
    while (j < GRAPH_COLUMNS && !(gap[j] && ++state[j] < graph_states[j])) state[j] = gap[j] ? 0 : state[j], j++;
    if (j == GRAPH_COLUMNS) break;
  }
  for (int k = 0; k < N_CLASSES; k++) score[k] += log_of(sums[k]);
  return 0;
}
