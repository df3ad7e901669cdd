// What is heard of new jobs. A fast lane listens beside the listener, so most is heard twice.

/** The channel on which `add_job` and `add_jobs` announce jobs. */
export const NEW_JOBS = "jobs:insert";

/** Announcements that are remembered; later ones that were heard before cost a fetch in vain. */
const REMEMBERED = 64;

export class Announcements {
  readonly #recent = new Set<string>();

  /**
   * How many jobs an announcement is about; null when it has been heard before. Those of this schema
   * have a random number in them (`{"r":0.123,"count":1}`), what has none is always new.
   */
  heard(payload: string): number | null {
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

/** What is heard on `worker:migrate`: Graphile Worker's `{"migrationNumber":21,"breaking":true}`. */
export function isBreaking(payload: string): boolean {
  return /"breaking"\s*:\s*true\b/.test(payload);
}
