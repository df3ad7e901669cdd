// Work that comes round again and again, one at a time: each kind in its own interval, and never again
// before it has rested in proportion to what it took. The costly kinds rest together, too: however many
// there are, they take a bounded part of the time. Runs while it is wanted; a stopped one has ended.
import { monotonic, wait } from "../../base/clock.ts";

export interface RhythmTask {
  readonly isWanted: () => boolean;
  readonly intervalMs: () => number;
  /** The rest after it, in multiples of its duration. */
  readonly restFactor: number;
  /** After one of these all of them rest; one that has never run does not wait for the others. */
  readonly isCostly?: boolean;
  /** Never rejects. A longer rest than the usual may be asked for, milliseconds. */
  readonly run: () => Promise<number | undefined>;
}

export interface Rhythm {
  /** Something may be wanted now that was not before. */
  wake(): void;
  /** The same, and this beat is due at once. */
  hurry(beat: RhythmTask): void;
  stop(): Promise<void>;
}

const LONGEST_REST_MS = 15_000;
/** All costly beats together take a twelfth of the time at the most. */
const SHARED_REST_FACTOR = 11;

export function createRhythm(beats: readonly RhythmTask[]): Rhythm {
  const stopping = new AbortController();
  const nextAt = new Map<RhythmTask, number>();
  let costlyAt = 0;
  let sleeping: AbortController | null = null;
  let running: Promise<void> | null = null;

  const dueAt = (beat: RhythmTask) => {
    const own = nextAt.get(beat);
    return own === undefined ? 0 : Math.max(own, beat.isCostly === true ? costlyAt : 0);
  };

  const loop = async () => {
    while (!stopping.signal.aborted) {
      const wanted = beats.filter((beat) => beat.isWanted());
      if (wanted.length === 0) return;
      const due = wanted.filter((beat) => dueAt(beat) <= monotonic());
      // Of the costly ones the one that has waited longest, else the first would leave nothing for the others.
      const waited = (beat: RhythmTask) => (beat.isCostly === true ? (nextAt.get(beat) ?? 0) : -1);
      const [first] = due.toSorted((one, other) => waited(one) - waited(other));
      if (first === undefined) {
        const next = Math.min(...wanted.map(dueAt));
        sleeping = new AbortController();
        await wait(Math.max(next - monotonic(), 1), sleeping.signal);
        sleeping = null;
        continue;
      }
      const began = monotonic();
      const rest = await first.run();
      const tookMs = monotonic() - began;
      const usual = Math.max(
        first.intervalMs(),
        Math.min(tookMs * first.restFactor, LONGEST_REST_MS),
      );
      nextAt.set(first, monotonic() + (rest ?? usual));
      if (first.isCostly === true) {
        costlyAt = monotonic() + Math.min(tookMs * SHARED_REST_FACTOR, LONGEST_REST_MS);
      }
    }
  };

  const wake = () => {
    if (stopping.signal.aborted) return;
    sleeping?.abort();
    running ??= loop().then(() => {
      running = null;
      // Somebody may have woken it in the moment in which it ended.
      if (beats.some((beat) => beat.isWanted())) wake();
    });
  };

  return {
    wake,
    hurry(beat) {
      nextAt.delete(beat);
      wake();
    },
    async stop() {
      stopping.abort();
      sleeping?.abort();
      await running;
    },
  };
}
