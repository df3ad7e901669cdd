// Announcements of new jobs. A fast lane listens in addition to the listener, so most arrive twice.

/** The channel on which `add_job` and `add_jobs` announce jobs. */
export const NEW_JOBS = "jobs:insert";

/** The number of announcements in memory. A repeated one beyond them causes a needless fetch. */
const REMEMBERED = 64;

export class Announcements {
  readonly #recent = new Set<string>();

  /**
   * Returns the number of announced jobs; null for a repeated announcement. An announcement
   * contains a random number (`{"r":0.123,"count":1}`); one without it is always new.
   */
  countOf(payload: string): number | null {
    if (payload.startsWith('{"r":')) {
      if (this.#recent.has(payload)) return null;
      this.#recent.add(payload);
      if (this.#recent.size > REMEMBERED) this.#recent.delete(this.#oldest);
    }
    const found = /"count":(\d{1,9})\b/.exec(payload);
    return found?.[1] === undefined ? 1 : Number(found[1]);
  }

  get #oldest(): string {
    return this.#recent.values().next().value as string;
  }
}

/** Whether a payload of `worker:migrate`, such as `{"migrationNumber":21,"breaking":true}`, is a breaking migration. */
export function isBreaking(payload: string): boolean {
  return /"breaking"\s*:\s*true\b/.test(payload);
}
