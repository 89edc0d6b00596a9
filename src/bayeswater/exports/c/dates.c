static double day_of(double seconds) { return floor(seconds / 86400); }
static double weekday_of(double seconds) { double day = fmod(day_of(seconds) + 3, 7); return day < 0 ? day + 7 : day; }
static double minute_of(double seconds) { return 60 * floor((seconds - 86400 * day_of(seconds)) / 60); }
static double month_of(double seconds) {
  double shifted = day_of(seconds) + 719468, era = floor(shifted / 146097), of_era = shifted - 146097 * era;
  double year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365);
  double month = floor((5 * (of_era - (365 * year + floor(year / 4) - floor(year / 100))) + 2) / 153);
  return month < 10 ? month + 3 : month - 9;
}
