// Where waits gather until somebody lets all of them through.
export class Gate {
  #waiting: (() => void)[] = [];

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves at the next open(), or when `signal` aborts. */
  async pass(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const onAbort = () => resolve();
    signal?.addEventListener("abort", onAbort, { once: true });
    await promise;
    signal?.removeEventListener("abort", onAbort);
  }

  open(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
