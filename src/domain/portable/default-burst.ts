/** Returns the default burst of a rate: the jobs that start in 0.2 s, rounded up, at least 1, at most 1,000,000. */
export function defaultBurst(limit: f64, perMs: f64): f64 {
  return Math.min(Math.max(1, Math.ceil((limit * 200) / perMs)), 1000000);
}
