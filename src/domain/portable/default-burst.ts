/** Returns the burst of a rate without one: what starts in 0.2 s, at least 1 and at most 1,000,000. */
export function defaultBurst(limit: f64, perMs: f64): f64 {
  return Math.min(Math.max(1, Math.ceil((limit * 200) / perMs)), 1000000);
}
