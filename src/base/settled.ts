// Waiting for several things of which any may fail.

/** All of them, and then the first error: none is left behind without a listener. */
export async function settled(work: readonly unknown[]): Promise<unknown[]> {
  const results = await Promise.allSettled(work);
  return results.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
