// One hostile client of the fuzz test. Its requests depend only on the seed and the client's number, not on the
// responses. The client also sends the bytes of hostile-bytes.ts, many of which are not valid requests.
import { random as makeRandom } from "../../support/random-calls.ts";
import { type Line, type LineOptions, type Outcome, openLine } from "./exchange.ts";
import { type HostileBytes, hostileBytes } from "./hostile-bytes.ts";
import type { Hostile, HostileRequests } from "./hostile-request.ts";
import { BYTES, type Tally } from "./tally.ts";

export interface HostileClient extends LineOptions {
  /** Its number among the clients. */
  readonly n: number;
  readonly seed: number;
  readonly requests: number;
  readonly host: string;
  readonly hostile: HostileRequests;
  readonly tally: Tally;
  /** Whether there is time for more requests. */
  goesOn(): boolean;
}

/** The number of requests of one connection that the admin handles at the same time. */
const MAX_AT_ONCE = 4;
/** On average, one of this many turns of the loop sends bytes of hostile-bytes.ts: about 4 of 100 requests. */
const BYTES_ONE_IN = 10;
/** How long the client waits for a response to bytes that may be only a part of a request. */
const HALF_MS = 5;
const MANY: readonly boolean[] = Array<boolean>(100).fill(false);

export async function runHostileClient(client: HostileClient): Promise<void> {
  const { n, seed, requests, host, hostile, tally } = client;
  const random = makeRandom(seed * 1_000 + n);
  let line: Line | null = null;
  let done = 0;
  const open = (): Line => {
    if (line?.isOpen !== true) line = openLine(client);
    return line;
  };
  const note = (route: string, sent: string, status: string, text: string) => {
    tally.note({ route, sent, status, text, place: `client ${n}, request ${done}` });
    done += 1;
  };

  const sendBytes = async ({ kind, pieces, most, isWhole }: HostileBytes) => {
    const end = random(2) === 0;
    const waitMs = isWhole ? undefined : HALF_MS;
    const outcome = await open().exchange(pieces, MANY.slice(0, most), waitMs);
    open().close(end);
    const { status, text } = verdict(outcome, isWhole);
    note(BYTES + kind, pieces.join("⏎").slice(0, 1_000), status, text);
  };

  const sendRequests = async (sent: readonly Hostile[]) => {
    let rest = sent;
    while (rest.length > 0) {
      const { answers, end, problem } = await open().exchange(
        [rest.map(({ bytes }) => bytes).join("")],
        rest.map(({ isHead }) => isHead),
      );
      for (const [at, { status, text }] of answers.entries()) {
        note(rest[at]?.route ?? "", rest[at]?.bytes ?? "", `${status}`, text);
      }
      // If the connection ended as expected, the requests after the last response are sent again on a new connection.
      const isExpected = end === "left" || answers.at(-1)?.isLast === true;
      rest = rest.slice(answers.length);
      const [next] = rest;
      if (next === undefined && problem === null) return;
      if (isExpected && problem === null) continue;
      note(next?.route ?? "?", next?.bytes ?? "", end === "waited" ? "hung" : "cut", problem ?? "");
      rest = rest.slice(1);
      open().close();
    }
  };

  while (done < requests && client.goesOn()) {
    if (random(BYTES_ONE_IN) === 0) {
      await sendBytes(hostileBytes(random, host));
      continue;
    }
    const count = 1 + random(MAX_AT_ONCE);
    const sent = Array.from({ length: count }, () => hostile(random));
    await sendRequests(sent.filter(({ isAlone }) => !isAlone));
    for (const one of sent) if (one.isAlone) await sendRequests([one]);
  }
  if (line !== null) (line as Line).close(true);
}

function verdict({ answers, end, problem }: Outcome, isWhole: boolean) {
  if (problem !== null) return { status: "broken", text: problem };
  const worst = answers.toSorted((a, b) => b.status - a.status)[0];
  if (worst !== undefined) return { status: `${worst.status}`, text: worst.text };
  return { status: end === "waited" && isWhole ? "hung" : end, text: "" };
}
