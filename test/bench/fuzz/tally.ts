// What hostile requests were answered with: counted by route and status, with samples of what must not be.

export interface Finding {
  readonly what: string;
  readonly count: number;
  readonly samples: readonly string[];
  /**
   * For responses 503 and 504: work that PostgreSQL could not do in time, or for which there was no room, has a
   * response.
   */
  readonly isForeseen: boolean;
}

export interface Noted {
  readonly route: string;
  /** A status, or what became of it instead of an answer. */
  readonly status: string;
  readonly sent: string;
  readonly text: string;
  /** Where it is found again: its client and the number of it there. */
  readonly place: string;
}

export interface Tally {
  note(one: Noted): void;
  readonly total: number;
  /** Answered with 2xx. */
  readonly served: number;
  /** Of no route. */
  readonly unreadable: number;
  /** A line for each route: how often it was answered with what. */
  lines(): string[];
  findings(): Finding[];
}

/** What no answer has to be: the connection was ended, or what came was half a request. */
const QUIET = new Set(["closed", "waited"]);
const SAMPLES = 3;
/** The routes of what is no request. */
export const BYTES = "bytes: ";

export function createTally(): Tally {
  const counts = new Map<string, Map<string, number>>();
  const findings = new Map<string, Finding & { count: number; samples: string[] }>();
  let [total, served, unreadable] = [0, 0, 0];
  return {
    get total() {
      return total;
    },
    get served() {
      return served;
    },
    get unreadable() {
      return unreadable;
    },
    note({ route, status, sent, text, place }) {
      total += 1;
      if (status.startsWith("2")) served += 1;
      if (route.startsWith(BYTES)) unreadable += 1;
      const byStatus = counts.get(route) ?? new Map<string, number>();
      counts.set(route, byStatus);
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      if (Number(status) < 500 || QUIET.has(status)) return;
      // Clients of another version get an error.
      if (status === "505" && route.startsWith(BYTES)) return;
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 100);
      const what = `${status} ${code} ${route}`;
      const isForeseen = status === "503" || status === "504";
      const finding = findings.get(what) ?? { what, count: 0, samples: [], isForeseen };
      findings.set(what, finding);
      finding.count += 1;
      if (finding.samples.length >= SAMPLES) return;
      const sample = `${place}: ${sent.slice(0, 1_000)}\n      → ${text.slice(0, 300)}`;
      finding.samples.push(sample.replaceAll(/[^\n -~]/g, "?"));
    },
    lines: () =>
      [...counts].toSorted().map(([route, byStatus]) => {
        const list = [...byStatus].toSorted().map(([status, count]) => `${status}: ${count}`);
        return `${route.padEnd(40)} ${list.join("  ")}`;
      }),
    findings: () => [...findings.values()],
  };
}
