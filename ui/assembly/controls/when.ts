/** Times as the forms that were there before ages could become clock times (age.ts) tell them. */
export function relative(at: f64, now: f64): string {
  const ms = now - at;
  if (ms >= 0) return ms < 1000 ? "now" : span(ms) + " ago";
  // Two clocks never agree to the second.
  return ms > -1000 ? "now" : "in " + span(999 - ms);
}

/** `42s`, `7m`, `3h`, `12d`, `4y` */
export function span(ms: f64): string {
  const seconds = <i64>(ms / 1000);
  if (seconds < 60) return seconds.toString() + "s";
  if (seconds < 3600) return (seconds / 60).toString() + "m";
  if (seconds < 86400) return (seconds / 3600).toString() + "h";
  if (seconds < 86400 * 730) return (seconds / 86400).toString() + "d";
  return (seconds / (86400 * 365)).toString() + "y";
}
