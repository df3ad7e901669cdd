// Makes the next one while the present one is being used: two at the most.

export async function* ahead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const ask = () => {
    const next = source.next();
    // Who fails while nobody waits for it is heard when somebody does.
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
