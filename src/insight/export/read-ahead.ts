// Yields the items of `source`, and requests the next item while the caller uses the current one. At most two items are
// in memory.

export async function* readAhead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const ask = () => {
    const next = source.next();
    // Without this, a failure before the `await` below would be an unhandled rejection. The `await` still throws it.
    next.catch(() => {});
    return next;
  };
  try {
    let next = ask();
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = ask();
      yield value;
    }
  } finally {
    await source.return();
  }
}
