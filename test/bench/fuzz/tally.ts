// Counts the responses to hostile requests by route and status. Keeps samples of findings: outcomes that may show a
// defect, such as server errors.

export interface Finding {
  readonly what: string;
  readonly count: number;
  readonly samples: readonly string[];
  /** True for 503 and 504, which are expected under load. */
  readonly isForeseen: boolean;
}

export interface NotedResponse {
  readonly route: string;
  /** The HTTP status. Without a valid response: `closed`, `waited`, `cut`, `hung` or `broken` (hostile-client.ts). */
  readonly status: string;
  readonly sent: string;
  readonly text: string;
  /** The client and the number of its request, to repeat the request with the run's seed. */
  readonly place: string;
}

export interface Tally {
  note(one: NotedResponse): void;
  readonly total: number;
  /** The number of responses with a status 2xx. */
  readonly served: number;
  /** How often bytes of hostile-bytes.ts were sent. */
  readonly unreadable: number;
  /** A line for each route, with the number of responses for each status. */
  lines(): string[];
  findings(): Finding[];
}

/** Statuses without a response that are not findings. */
const QUIET = new Set(["closed", "waited"]);
const SAMPLES = 3;
/** The beginning of `route` for bytes of hostile-bytes.ts. */
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
      // 505 is the right response to bytes of another HTTP version.
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
