// A replacement of wait() for functions that accept it as an option. The test decides when the waits end.

export interface ManualWait {
  /** Replaces wait() of base/clock.ts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** The lengths of the current waits, in milliseconds. */
  readonly waits: readonly number[];
  /** Ends the waits whose length `isLength` selects, as if their time had passed. If there is none, waits for one. */
  pass(isLength: (ms: number) => boolean): Promise<void>;
  /**
   * Ends the waits whose length `isLength` selects. From now on, such waits end as soon as they begin. The next skip()
   * replaces `isLength`.
   */
  skip(isLength: (ms: number) => boolean): void;
}

export function manualWait(): ManualWait {
  const waiting = new Set<{ readonly ms: number; end(passed: boolean): void }>();
  let arrived = Promise.withResolvers<void>();
  let isSkipped = (_ms: number) => false;
  return {
    wait(ms, signal) {
      if (isSkipped(ms)) return new Promise((resolve) => setImmediate(resolve, !signal.aborted));
      const { promise, resolve } = Promise.withResolvers<boolean>();
      if (signal.aborted) return Promise.resolve(false);
      const one = {
        ms,
        end(passed: boolean) {
          waiting.delete(one);
          resolve(passed);
        },
      };
      waiting.add(one);
      signal.addEventListener("abort", () => one.end(false), { once: true });
      arrived.resolve();
      arrived = Promise.withResolvers();
      return promise;
    },
    get waits() {
      return [...waiting].map(({ ms }) => ms);
    },
    skip(isLength) {
      isSkipped = isLength;
      for (const one of [...waiting].filter(({ ms }) => isLength(ms))) one.end(true);
    },
    async pass(isLength) {
      for (;;) {
        const due = [...waiting].filter(({ ms }) => isLength(ms));
        for (const one of due) one.end(true);
        if (due.length > 0) return;
        await arrived.promise;
      }
    },
  };
}
