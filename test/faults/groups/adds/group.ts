// Adds jobs through a proxy that cuts the connection, first after each message in turn, then at random moments. Checks
// that the error of a failed add shows whether the job may exist, and that an add with a key can be repeated.

import { DIRECTIONS, type Direction } from "../../../support/tcp-proxy/link.ts";
import type { TcpProxy } from "../../../support/tcp-proxy.ts";
import { tcpProxy } from "../../../support/tcp-proxy.ts";
import type { FaultGroup, Field } from "../../field/field.ts";
import { addAtRandom } from "./at-random.ts";
import { Tally } from "./tally.ts";
import { type Adder, WAYS, type Way } from "./ways.ts";

export const group: FaultGroup = {
  name: "adds",
  title: "adds through a proxy that cuts the connection at every place",
  limitMinutes: 8,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const url = await server.createDatabase("adds");
    const count = async (names: readonly string[]) => {
      const rows = await server.sql<{ n: string; count: number }>(
        `select payload->>'n' as n, count(*)::int as count from worker._private_jobs
         where payload->>'n' = any($1) group by 1`,
        [names],
        "adds",
      );
      return new Map(rows.map((row) => [row.n, row.count]));
    };
    const proxy = await tcpProxy(url);
    field.defer(() => proxy.close());
    const tally = new Tally(field, count);
    for (const way of WAYS) {
      if (field.brief && way.isSlow) continue;
      await cutEverywhere(field, way, proxy, tally);
      field.say(`${way.name}: connections were cut at every place`);
    }
    await tally.judge("cut at every place");
    await addAtRandom(field, url, new Tally(field, count));
  },
};

interface Place {
  readonly direction: Direction;
  readonly isTorn: boolean;
  readonly temperature: "cold" | "warm";
}

function places({ brief }: Field, { isSlow, temperatures }: Way): Place[] {
  return DIRECTIONS.flatMap((direction) =>
    [false, true].flatMap((isTorn) =>
      temperatures.map((temperature) => ({ direction, isTorn, temperature })),
    ),
  ).filter(({ isTorn, temperature }) =>
    brief ? temperature === "warm" && !isTorn : !isSlow || !isTorn,
  );
}

let made = 0;

/**
 * Makes one add after the other. The connection of the first add is cut before the first message, the connection of the
 * second add after the first message, and so on, until an add ends before its connection is cut. With `isTorn`, a part
 * of the next message still passes. All this is repeated for each element of places().
 */
async function cutEverywhere(field: Field, way: Way, proxy: TcpProxy, tally: Tally): Promise<void> {
  const names = () => Array.from({ length: way.jobs }, () => `job-${made++}`);
  for (const { direction, isTorn, temperature } of places(field, way)) {
    const lasting = way.isSlow ? await way.start(proxy.url, field.directory) : null;
    let isCut = true;
    for (let count = 0; isCut; count++) {
      const where = `${temperature} connection, cut after ${count} messages of ${direction}${isTorn ? " and a part" : ""}`;
      const adder = lasting ?? (await way.start(proxy.url, field.directory));
      if (temperature === "warm") await adder.add(names());
      const before = proxy.cuts;
      proxy.cutBehind(count, { direction, isTorn });
      const these = names();
      const outcomes = await adder.add(these);
      isCut = proxy.cuts > before;
      proxy.calm();
      tally.note(way, where, these, outcomes);
      if (way.isKeyed && outcomes.includes("unknown")) await again(field, way, where, adder, these);
      if (lasting === null) await adder.close();
      await proxy.ended;
    }
    await lasting?.close();
  }
}

/** Repeats an add with the same keys. The repetition must succeed. The tally checks that no job exists twice. */
async function again(
  field: Field,
  way: Way,
  where: string,
  adder: Adder,
  names: readonly string[],
): Promise<void> {
  const outcomes = await adder.add(names);
  field.figure("jobs with a key, added again after an unknown outcome", null, outcomes.length, {
    unit: "",
  });
  if (outcomes.some((one) => one !== "added")) {
    field.problem(null, `${way.name}, ${where}: the repeated add failed`);
  }
}
