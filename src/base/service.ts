// The interface of servers, listeners and loops. A service starts once and stops once; stopping is safe at
// any moment, also before or during the start.
//
//   new ──start()──▶ starting ──▶ running ──stop()──▶ stopping ──▶ stopped
//    └────────────────stop()────────────────────────────────────────▲

/** A service that is started once and stopped once. */
export interface Service extends AsyncDisposable {
  /** Starts the service. Resolves once it works; rejects when it cannot start, and then leaves nothing behind. */
  start(): Promise<void>;
  /** Stops the service: finishes its current work and releases everything. Idempotent; never rejects. */
  stop(): Promise<void>;
}
