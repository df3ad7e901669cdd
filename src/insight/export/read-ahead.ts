// Yields the items of `source`, and requests the next one while the last is in use. So at most two are in memory.

export async function* readAhead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const ask = () => {
    const next = source.next();
    // If the next item fails before it is awaited, the error is thrown when it is awaited.
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
