// Many ask, one works. At most one run at a time, and nobody gets the result of a run that began
// before they asked: whoever asks during a run shares the next one. So an answer after a write
// always shows that write.

export function singleFlight<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  const start = () => {
    current = run().finally(() => {
      current = null;
    });
    return current;
  };

  return () => {
    if (current === null) return start();
    next ??= current
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}
