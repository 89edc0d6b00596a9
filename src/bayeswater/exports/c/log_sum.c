struct log_sum { double top, rest; };
static const struct log_sum EMPTY_SUM = {-INFINITY, 0};
static void add_log(struct log_sum *sum, double value) {
  if (value == -INFINITY) return;
  if (value > sum->top) sum->rest = sum->rest * exp(sum->top - value) + 1, sum->top = value;
  else sum->rest += exp(value - sum->top);
}
static double log_of(struct log_sum sum) { return sum.rest > 0 ? sum.top + log(sum.rest) : -INFINITY; }
