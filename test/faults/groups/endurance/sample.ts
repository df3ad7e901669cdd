// Reads from /proc how much memory and how many handles and threads a process has, and checks how much they grow.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stand } from "../../field/stand.ts";

export interface Sample {
  readonly mb: number;
  readonly handles: number;
  readonly threads: number;
}

const [SAMPLES, POLL_MS] = [12, 100];

/**
 * Returns the least values of several samples, because memory grows between garbage collections, and some handles are
 * open only for a short time.
 */
export async function sampleOf(pid: number): Promise<Sample> {
  const samples: Sample[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    samples.push(sampleNow(pid));
    await sleep(POLL_MS);
  }
  const least = (name: keyof Sample) => Math.min(...samples.map((one) => one[name]));
  return { mb: least("mb"), handles: least("handles"), threads: least("threads") };
}

function sampleNow(pid: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
  const handles = readdirSync(`/proc/${pid}/fd`).length;
  return { mb: field("VmRSS") / 1_024, handles, threads: field("Threads") };
}

/** An option for measured processes: it limits V8's young generation, which could grow by 48 MB without a leak. */
export const ROOM = "--max-semi-space-size=1";

/** The largest growth of memory that does not count as a leak. It is large, because V8 returns unused memory late. */
const MAX_MB = 40;

export function checkGrowth(stand: Stand, what: string, first: Sample, last: Sample): void {
  const named = (part: string) => `${what}: ${part} more`;
  stand.figure(named("memory"), last.mb - first.mb, { most: MAX_MB, unit: "MB" });
  stand.figure(named("handles"), last.handles - first.handles, { most: 2, unit: "" });
  stand.figure(named("threads"), last.threads - first.threads, { most: 0, unit: "" });
}
