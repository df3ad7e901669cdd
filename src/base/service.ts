// The interface of parts that are started and stopped, such as a worker, its listener and its timetable. A service
// starts at most once. stop() can be called at any moment, also before or during the start.
//
//   new ──start()──▶ starting ──▶ running ──stop()──▶ stopping ──▶ stopped
//    └────────────────stop()────────────────────────────────────────▲

/** A service that is started once and stopped once. */
export interface Service extends AsyncDisposable {
  /** Starts the service. Resolves when the service runs. Rejects if it cannot start; then nothing keeps running. */
  start(): Promise<void>;
  /** Stops the service. Resolves when the service has stopped and released what it used. Idempotent; never rejects. */
  stop(): Promise<void>;
}
