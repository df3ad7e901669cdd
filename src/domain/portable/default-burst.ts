/** Returns the default burst of a rate: the number of jobs that start in 0.2 s, rounded up, from 1 to 1,000,000. */
export function defaultBurst(limit: f64, perMs: f64): f64 {
  return Math.min(Math.max(1, Math.ceil((limit * 200) / perMs)), 1000000);
}
