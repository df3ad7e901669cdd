// How much the next fetch may ask for, and how long it may take. A fetch walks the index of ready jobs
// until it has found as many as it asked for: a few probes, except where millions of ready jobs stand
// there that it cannot take, such as those of tasks that only other workers have.
//
//   any ── a short answer after a second ──▶ asks for 1 ── full answers ──▶ 2, 4, 8 … as many as wanted
//   any ── stopped by its timeout ─────────▶ asks for 1, patiently, until a fetch is quick again
import { WorkerError } from "../../base/errors.ts";

/** A fetch that takes longer has walked over far more than it took. */
const LONG_WALK_MS = 1_000;
/** One that is patient and needs less would not have needed its patience. */
const PATIENT_WALK_MS = 4_000;

/** For the log, at the first of them. */
export const LONG_FETCH =
  "a fetch of jobs took too long and is repeated with more time: do millions of ready jobs of other tasks stand before those of this worker?";

export class FetchPace {
  #most = Number.POSITIVE_INFINITY;
  #isPatient = false;

  /** The next fetch may take a minute instead of seconds. */
  get isPatient(): boolean {
    return this.#isPatient;
  }

  /** `wanted`, or less: what stands at the front shall not wait for the end of a long walk. */
  limit(wanted: number): number {
    return Math.min(wanted, this.#most);
  }

  /** A fetch has come back after so long. `isFull`: with as many jobs as it asked for. */
  learn(isFull: boolean, tookMs: number): void {
    if (isFull) this.#most *= 2;
    else this.#most = tookMs < LONG_WALK_MS ? Number.POSITIVE_INFINITY : 1;
    if (tookMs < PATIENT_WALK_MS) this.#isPatient = false;
  }

  /** True when PostgreSQL has stopped the fetch for its length: the next one is patient. */
  failed(error: unknown): boolean {
    if (!(error instanceof WorkerError) || error.code !== "database_timeout") return false;
    this.#most = 1;
    this.#isPatient = true;
    return true;
  }
}
