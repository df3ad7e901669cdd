// Waits for several promises of which any may reject.

/** Waits for all of them, then throws the first error. No promise is left without a handler. */
export async function settled(work: readonly unknown[]): Promise<unknown[]> {
  const results = await Promise.allSettled(work);
  return results.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
