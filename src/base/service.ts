// The contract of everything that lives: a server, a listener, a loop. It is started once, stops
// once, and stopping is safe at any moment, also before or during the start.
//
//   new ──start()──▶ starting ──▶ running ──stop()──▶ stopping ──▶ stopped
//    └────────────────stop()────────────────────────────────────────▲

/** Something that is started once and stopped once, at any moment. */
export interface Service extends AsyncDisposable {
  /** Resolves once the service does its work; rejects when it cannot, leaving nothing behind. */
  start(): Promise<void>;
  /** Ends the work in hand and lets everything go. Idempotent; never rejects. */
  stop(): Promise<void>;
}
