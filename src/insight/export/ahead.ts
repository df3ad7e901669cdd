// Prepares the next item while the present one is in use: two at the most.

export async function* ahead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const ask = () => {
    const next = source.next();
    // An error before the next item is awaited is thrown when it is.
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
