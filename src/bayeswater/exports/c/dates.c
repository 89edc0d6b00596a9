/* Of seconds since 1970 the weekday, from Monday on, the month, or the seconds of the day up to the full minute. */
static double part_of_date(double seconds, char part) {
  double day = floor(seconds / 86400), weekday = fmod(day + 3, 7);
  double shifted = day + 719468, era = floor(shifted / 146097), of_era = shifted - 146097 * era;
  double year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365);
  double month = floor((5 * (of_era - (365 * year + floor(year / 4) - floor(year / 100))) + 2) / 153);
  if (part == 't') return 60 * floor((seconds - 86400 * day) / 60);
  if (part == 'w') return weekday < 0 ? weekday + 7 : weekday;
  return month < 10 ? month + 3 : month - 9;
}
