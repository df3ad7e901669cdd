// Tests a whole installation on one machine: hosts with workers, admins behind nginx, and a primary with a synchronous
// standby. The hosts are network namespaces. Hosts, pgbouncer and the database servers are killed and restarted one
// after another, at random. FAULTS_SCALE_OUT_SECONDS sets the duration in seconds; the default in a full run is 600.
import { freedAfter } from "../../../worker/runs.ts";
import type { FaultGroup, Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { startWriters } from "../admin/writers.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { ADMIN_DATABASE, adminHost, type Place, pooler, proxyHost, workerHost } from "./fleet.ts";
import { makeNetwork, type Network } from "./network.ts";

const HOSTS = 8;
const SECONDS = 600;
const RATE = 40;
/** The shortest and the longest time until a killed host is restarted. */
const AWAY_MS = [2_000, 9_000] as const;
const FAILED_OVER_MS = 5_000;
const FREED_MS = 15_000;
/** The row locks of the fast mode last until PostgreSQL closes a killed host's connections, after 11 s (cluster.ts). */
const FREED_FAST_MS = 25_000;

export const group: FaultGroup = {
  name: "scale-out",
  title: "eight worker hosts, two admins, a pooler, a standby: any host killed at any time",
  limitMinutes: 16,
  needs: ["root", "ip", "netns", "nginx", "pgbouncer"],
  async run(field) {
    const network = await makeNetwork();
    field.defer(() => network.close());
    const cluster = await startCluster({
      directory: field.directory,
      addresses: [await network.ownAddress(11), await network.ownAddress(12)],
      relay: await network.ownAddress(10),
      network: `${network.addressOf(0)}/24`,
    });
    field.defer(() => cluster.close());
    const stands = await field.stands(throughTheRelay(cluster), { modes: ["safe", "fast"] });
    const pool = await pooler(field, cluster, network);
    const places = await installed(field, cluster, network, stands, pool.url);
    const proxy = await adminsBehindProxy(field, cluster, network);
    const writers = startWriters(proxy.url, 2, 100);
    field.defer(() => writers.stop());
    for (const stand of stands) stand.load(RATE);
    await killAtRandom(field, cluster, stands, [
      ...[...places, ...proxy.places, pool.place],
      { name: "standby", down: cluster.killStandby, up: cluster.startStandby },
    ]);
    await writers.stop();
    const rows = await cluster.primary.sql<{ key: string }>(
      "select key from worker.jobs",
      [],
      ADMIN_DATABASE,
    );
    const there = new Set(rows.map(({ key }) => key));
    const lost = [...writers.acknowledged].filter((key) => !there.has(key));
    if (lost.length > 0)
      field.problem(null, `jobs that an admin acknowledged and that are lost: ${lost.slice(0, 5)}`);
    field.figure("jobs added through the proxy", null, writers.acknowledged.size, { unit: "" });
    await field.each(stands, async (stand) => {
      await stand.end();
      const most = stand.mode.fastLane === false ? FREED_MS : FREED_FAST_MS;
      for (const { ms } of freedAfter(stand.runs())) {
        stand.figure("a job is recovered after its host was killed", ms, { most });
      }
    });
  },
};

/** Returns the primary, with a createDatabase() that returns a URL of the relay. */
function throughTheRelay(cluster: Cluster): Server {
  return {
    ...cluster.primary,
    async createDatabase(name) {
      await cluster.primary.createDatabase(name);
      return cluster.url(name);
    },
  };
}

/** Starts the worker hosts. Workers behind the pooler have the settings of docs/scale.md. */
async function installed(
  field: Field,
  cluster: Cluster,
  network: Network,
  stands: readonly Stand[],
  pooled: (database: string) => string,
): Promise<Place[]> {
  const places: Place[] = [];
  for (let n = 1; n <= field.times(HOSTS, 2); n++) {
    const host = await network.host(`w${n}`);
    const changes = (stand: Stand) => {
      const database = new URL(stand.url).pathname.slice(1);
      const isPooled = n % 2 === 0 && stand.mode.fastLane === false;
      return isPooled
        ? { url: pooled(database), options: { notify: false, preparedStatements: false } }
        : { url: cluster.hosts(database) };
    };
    places.push(await workerHost(host, stands, changes));
  }
  return places;
}

async function adminsBehindProxy(field: Field, cluster: Cluster, network: Network) {
  await cluster.primary.createDatabase(ADMIN_DATABASE);
  const hosts = [await network.host("a1"), await network.host("a2")];
  const places = await Promise.all(hosts.map((host) => adminHost(field, cluster, host)));
  const { place, url } = await proxyHost(field, await network.host("lb"), hosts);
  return { places: [...places, place], url };
}

async function killAtRandom(
  field: Field,
  cluster: Cluster,
  stands: readonly Stand[],
  places: readonly Place[],
): Promise<void> {
  const seconds = Number(process.env["FAULTS_SCALE_OUT_SECONDS"] ?? field.times(SECONDS, 20));
  const end = performance.now() + seconds * 1_000;
  const fault = () => {
    for (const stand of stands) stand.log.fault();
  };
  const [least, most] = AWAY_MS;
  let killed = 0;
  // The primary fails first, so that even the shortest run includes a failover.
  for (let which = places.length; performance.now() < end; which = field.dice(places.length + 1)) {
    const place = places[which];
    killed += 1;
    field.say(`kill ${killed}: ${place?.name ?? "the primary"}`);
    fault();
    if (place === undefined) await failedOver(field, cluster, stands);
    else {
      await place.down();
      await field.outage(least + field.dice(most - least));
      await place.up();
    }
    fault();
  }
  field.figure("hosts killed", null, killed, { unit: "" });
}

async function failedOver(field: Field, cluster: Cluster, stands: readonly Stand[]): Promise<void> {
  const ready = await cluster.failOver();
  await field.each(stands, async (stand) => {
    const first = await stand.startAfter(ready);
    stand.figure("first job after a promotion", first - ready, { most: FAILED_OVER_MS });
  });
  await cluster.rebuild();
}
