/**
 * What the server may send along with the page: its first picture, as the application would draw it, and what
 * that was drawn of. The picture is seen at once; the application's own, of the same, takes its place.
 */
export interface FirstFacts {
  /** The body of the answer to `api/session`. */
  readonly session: string;
  readonly events: readonly (readonly [event: string, data: string])[];
}

export function firstFacts(): FirstFacts | undefined {
  const { facts } = (document.getElementById("app") as HTMLElement).dataset;
  return facts ? (JSON.parse(facts) as FirstFacts) : undefined;
}
