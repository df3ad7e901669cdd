// Tests network faults between workers and PostgreSQL. The workers of this library poll only once an hour. So if a
// notification is lost, no poll finds its job soon, and the test fails.
import { tcpProxy } from "../../../support/tcp-proxy.ts";
import type { FaultGroup, Field } from "../../field/field.ts";
import { ROUNDS } from "./rounds.ts";
import { NEVER_MS, Wire } from "./wire.ts";

export const group: FaultGroup = {
  name: "network",
  title: "connections that are mute, slow, cut, half open",
  limitMinutes: 10,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const proxies = new Map<string, Awaited<ReturnType<typeof tcpProxy>>>();
    const stands = await field.stands(server, {
      options: { pollIntervalMs: NEVER_MS },
      url: async (url, mode) => {
        const proxy = await tcpProxy(url);
        field.defer(() => proxy.close());
        proxies.set(mode.name, proxy);
        return proxy.url;
      },
    });
    const wires = new Map<object, Wire>();
    await field.each(stands, async (stand) => {
      const proxy = proxies.get(stand.mode.name);
      if (proxy === undefined) return;
      // Graphile Worker does not detect mute connections, so its connections bypass the proxy and have no faults.
      const direct = { stock: true, url: stand.url, options: { pollIntervalMs: 1_000 } };
      const stock = stand.mode.stock ? await stand.hire(1, direct) : [];
      await stand.hire();
      wires.set(stand, new Wire(stand, proxy, stock));
    });
    for (const round of ROUNDS) {
      if (field.brief && round.isLong) continue;
      await field.each(stands, async (stand) => {
        const wire = wires.get(stand);
        await wire?.underLoad(round.what, () => round.run(wire, field));
      });
      // prove() measures times, which would be longer if several wires ran prove() at once.
      for (const wire of wires.values()) {
        await field.each([wire.stand], () => wire.prove(round.what));
      }
      field.say(round.what);
    }
    await field.each(stands, (stand) => stand.end());
  },
};
