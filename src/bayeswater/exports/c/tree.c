/* Columns with one parent at most: messages go from the leaves to the roots, and of a cell that is missing they are the
   sum over its states. */
static int add_tree(const int *code, double *score) {
  double below[TREE_SLOTS * N_CLASSES] = {0};
  int heard[TREE_COLUMNS] = {0};
  for (int at = 0; at < TREE_COLUMNS; at++) {
    const int j = tree_order[at], p = tree_parent[j], n = tree_states[j], c = code[tree_cell[j]];
    if (c >= n && !heard[j]) continue;
    int first = 0, last = 1;
    if (p >= 0) {
      const int above = code[tree_cell[p]];
      first = above < tree_states[p] ? above : 0;
      last = above < tree_states[p] ? above + 1 : tree_states[p];
      heard[p] = 1;
    }
    const real *table = tree_table + tree_start[j];
    const double *own = below + tree_slot[j] * N_CLASSES;
    for (int a = first; a < last; a++) {
      for (int k = 0; k < N_CLASSES; k++) {
        struct log_sum message = EMPTY_SUM;
        for (int b = c < n ? c : 0; b < (c < n ? c + 1 : n); b++)
          add_log(&message, (double)table[(a * n + b) * N_CLASSES + k] + own[b * N_CLASSES + k]);
        if (p >= 0) below[(tree_slot[p] + a) * N_CLASSES + k] += log_of(message);
        else score[k] += log_of(message);
      }
    }
  }
  return 0;
}
