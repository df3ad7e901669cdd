// Runs many hostile clients against admins of one database, and measures the admins' memory. The clients write, so use
// a disposable database.
import type { AdminProcess } from "../admin/admin-process.ts";
import { type HostileClient, runHostileClient } from "./hostile-client.ts";
import { hostileRequests } from "./hostile-request.ts";
import { createTally, type Tally } from "./tally.ts";

export interface FuzzPlan {
  readonly requests: number;
  readonly seconds: number;
  readonly clients: number;
  readonly seed: number;
  /** The number, from 0, of the only client that runs. Default: all clients run. */
  readonly only?: number | undefined;
  /** Called with a line about the progress, every 15 s and at the end. */
  say(line: string): void;
}

export interface FuzzResult {
  readonly tally: Tally;
  readonly seconds: number;
  /** For each third of the requests, the largest resident memory of any admin. */
  readonly peaks_mb: readonly [number, number, number];
  /**
   * For each third of the requests, the largest of the admins' smallest heaps (about what garbage collection leaves).
   */
  readonly heaps_mb: readonly [number, number, number];
  readonly peak_mb: number;
  readonly isAlive: boolean;
}

const SAY_MS = 15_000;
const WEIGH_MS = 1_000;

/** Runs the plan. The clients are assigned to the admins in turn. */
export async function fuzzAdmin(
  admins: readonly AdminProcess[],
  plan: FuzzPlan,
): Promise<FuzzResult> {
  const { requests, seconds, clients, seed, only, say } = plan;
  const targets = await Promise.all(admins.map(targetOf));
  const tally = createTally();
  const most = (weight: (admin: AdminProcess) => number) => Math.max(...admins.map(weight));
  const cpuOf = () => admins.reduce((sum, admin) => sum + admin.cpu_s(), 0);
  const [began, cpu_s, ownCpu] = [performance.now(), cpuOf(), process.cpuUsage()];
  const peaks: [number, number, number] = [0, 0, 0];
  const lows = admins.map((): [number, number, number] => [Infinity, Infinity, Infinity]);
  const weigh = async () => {
    const third = Math.min(2, Math.floor((3 * tally.total) / requests)) as 0 | 1 | 2;
    peaks[third] = Math.max(
      peaks[third],
      most((admin) => admin.rss_mb()),
    );
    for (const [n, admin] of admins.entries()) {
      const heap = await heapOf(admin);
      const low = lows[n];
      if (heap !== null && low !== undefined) low[third] = Math.min(low[third], heap);
    }
  };
  const highest = (third: 0 | 1 | 2) => Math.max(...lows.map((low) => low[third]));
  const passed = () => (performance.now() - began) / 1_000;
  const report = () => {
    const rate = Math.round(tally.total / passed());
    const each = (cpu_s: number) => ((cpu_s * 1_000) / Math.max(1, tally.total)).toFixed(2);
    const { user, system } = process.cpuUsage(ownCpu);
    const cpu = `CPU of each request: ${each((user + system) / 1e6)} ms here, ${each(cpuOf() - cpu_s)} ms in the admin`;
    const now = most((admin) => admin.rss_mb()).toFixed(0);
    const memory = `${now} MB now, ${most((admin) => admin.peak_mb()).toFixed(0)} MB at most`;
    say(`${passed().toFixed(0)} s: ${tally.total} requests, ${rate}/s, ${cpu}, ${memory}`);
  };
  const timers = [setInterval(report, SAY_MS), setInterval(() => void weigh(), WEIGH_MS)];
  const share = Math.ceil(requests / clients);
  const numbers = only === undefined ? Array.from({ length: clients }, (_, n) => n) : [only];
  await Promise.all(
    numbers.map((n) =>
      runHostileClient({
        ...{ n, seed, requests: share, tally },
        ...(targets[n % targets.length] as Target),
        // Each client has its own address, because the admin limits the requests of one address.
        localAddress: `127.0.0.${2 + n}`,
        goesOn: () => passed() < seconds,
      }),
    ),
  );
  for (const timer of timers) clearInterval(timer);
  await weigh();
  report();
  const health = await Promise.all(admins.map((admin) => admin.get("/healthz").catch(() => null)));
  return {
    tally,
    seconds: passed(),
    peaks_mb: peaks,
    heaps_mb: [highest(0), highest(1), highest(2)],
    peak_mb: most((admin) => admin.peak_mb()),
    isAlive: health.every((answer) => answer?.status === 200),
  };
}

/** Returns the heap in use, in MB; null if the admin did not answer. */
async function heapOf(admin: AdminProcess): Promise<number | null> {
  const answer = await admin.get("/metrics").catch(() => null);
  const [, bytes] = /^nodejs_heap_size_used_bytes (\d+)/m.exec(answer?.text ?? "") ?? [];
  return bytes === undefined ? null : Number(bytes) / 1_048_576;
}

type Target = Pick<HostileClient, "port" | "host" | "hostile">;

async function targetOf(admin: AdminProcess): Promise<Target> {
  const { port } = admin;
  const { body: document } = await admin.get("/api/openapi.json");
  const { csrf_token: token } = (await admin.get("/api/session")).body;
  const host = `127.0.0.1:${port}`;
  return { port, host, hostile: hostileRequests(document, host, token) };
}
