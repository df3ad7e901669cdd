// Adds jobs from several callers at once, while connections are reset and cut at random moments. A call that adds jobs
// with keys is repeated until it succeeds.
import { setTimeout as sleep } from "node:timers/promises";
import { random } from "../../../support/random-calls.ts";
import { type TcpProxy, tcpProxy } from "../../../support/tcp-proxy.ts";
import type { Field } from "../../field/field.ts";
import type { Tally } from "./tally.ts";
import { WAYS, type Way } from "./ways.ts";

const LASTS_MS = 20_000;
const BRIEF_MS = 1_500;
const CALLERS = 3;

export async function addAtRandom(field: Field, url: string, tally: Tally): Promise<void> {
  await using proxy = await tcpProxy(url);
  const over = new AbortController();
  const weather = badWeather(proxy, field.seed, over.signal);
  const callers = WAYS.filter(({ isSlow }) => !isSlow).flatMap((way) =>
    Array.from({ length: CALLERS }, (_, index) =>
      caller(way, `random-${index}`, { url: proxy.url, field, tally, over: over.signal }),
    ),
  );
  await field.outage(field.brief ? BRIEF_MS : LASTS_MS);
  over.abort();
  await weather;
  await Promise.all(callers);
  await proxy.ended;
  await tally.judge("at random");
}

interface Calling {
  readonly url: string;
  readonly field: Field;
  readonly tally: Tally;
  readonly over: AbortSignal;
}

async function caller(way: Way, name: string, { url, field, tally, over }: Calling): Promise<void> {
  let adder = await way.start(url, field.directory);
  for (let n = 0; !over.aborted; n++) {
    const names = Array.from({ length: way.jobs }, (_, at) => `${way.name} ${name}-${n}-${at}`);
    for (;;) {
      const outcomes = await adder.add(names);
      const isAdded = outcomes.every((one) => one === "added");
      if (isAdded || !way.isKeyed) {
        tally.note(way, "at random", names, outcomes);
      }
      // An adder with its own client cannot reconnect, so the adder is replaced after a failure.
      if (!isAdded) {
        await adder.close();
        adder = await way.start(url, field.directory);
      }
      if (isAdded || !way.isKeyed) break;
    }
  }
  await adder.close();
}

async function badWeather(proxy: TcpProxy, seed: number, over: AbortSignal): Promise<void> {
  const dice = random(seed);
  while (!over.aborted) {
    await sleep(dice(30));
    const which = dice(4);
    if (which === 0) proxy.reset((place) => place % 4 === dice(4));
    else proxy.cutBehind(dice(60), { isTorn: which === 1 });
  }
  proxy.calm();
}
