/**
 * What the server may send along with the page: its first picture, as the application would draw it, and what
 * that was drawn of. The picture is seen at once; the application's own, of the same, takes its place.
 */
export interface FirstFacts {
  /** The body of the answer to `api/session`. */
  readonly session: string;
  readonly events: readonly (readonly [event: string, data: string])[];
}

/** Gives them when the picture is on the screen: what comes next takes the processor for longer than that. */
export async function firstFacts(): Promise<FirstFacts | undefined> {
  const { facts } = (document.getElementById("app") as HTMLElement).dataset;
  if (!facts) return undefined;
  // A page in the background has no frames.
  if (!document.hidden)
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return JSON.parse(facts) as FirstFacts;
}
