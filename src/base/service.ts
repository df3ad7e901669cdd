// The contract of servers, listeners and loops. A service starts once and stops once; stopping is safe at
// any moment, also before or during the start.
//
//   new ──start()──▶ starting ──▶ running ──stop()──▶ stopping ──▶ stopped
//    └────────────────stop()────────────────────────────────────────▲

/** Something that starts once and stops once. */
export interface Service extends AsyncDisposable {
  /** Resolves once the service works. Rejects if it cannot start, and leaves nothing behind. */
  start(): Promise<void>;
  /** Finishes current work and releases all resources. Idempotent; never rejects. */
  stop(): Promise<void>;
}
