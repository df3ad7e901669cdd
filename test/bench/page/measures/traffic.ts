// The bytes that each page gets in a minute, all of them open side by side, each on a wire of its own that
// counts: while nothing changes in the database, and while much does.
import { once } from "node:events";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Browser } from "playwright-core";
import { atMost, type Line, line } from "../../admin/measure.ts";
import { isThere, openPage, type PageMeasure } from "../bench.ts";

const MINUTE_MS = 60_000;
/** Until fonts and what is only known later have come. */
const SETTLING_MS = 20_000;
/** So many jobs are added every second, run, and end or fail. */
const BUSY = 50;

interface OpenPage {
  readonly route: string;
  readonly wire: Wire;
}

interface Wire {
  readonly url: string;
  /** What has come from the server. */
  bytes(): number;
  cut(): void;
}

export const traffic: PageMeasure = {
  name: "traffic",
  run: async ({ url, port, launch, db }) => {
    const browser = await launch();
    const open: OpenPage[] = [];
    for (const route of await routesOf(browser, url)) {
      const wire = await startWire(port);
      await isThere(await openPage(browser, wire.url, route));
      open.push({ route, wire });
    }
    await pause(SETTLING_MS);
    const idle = await minute(open, 20, "nothing changes", async () => {});
    const busy = await minute(open, 60, "much changes", () => change(db));
    await browser.close();
    for (const { wire } of open) wire.cut();
    return [...idle, ...busy];
  },
};

/** A job's page, and every page of the navigation. */
async function routesOf(browser: Browser, url: string): Promise<string[]> {
  const page = await openPage(browser, url, "/jobs");
  await isThere(page);
  const links = page.locator('.side a[href^="#/"], .jobs tbody tr:first-child a[href^="#/jobs/"]');
  const hrefs = await links.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  await page.context().close();
  return [...new Set(hrefs)].map((href) => href.slice(1));
}

async function minute(
  open: readonly OpenPage[],
  most: number,
  when: string,
  everySecond: () => Promise<unknown>,
): Promise<readonly Line[]> {
  const before = open.map(({ wire }) => wire.bytes());
  const end = performance.now() + MINUTE_MS;
  for (let left = MINUTE_MS; left > 0; left = end - performance.now()) {
    await everySecond();
    await pause(Math.min(1_000, left));
  }
  const figures = open
    .map(({ route, wire }, i) => ({ route, kb: (wire.bytes() - (before[i] ?? 0)) / 1024 }))
    .sort((a, b) => b.kb - a.kb);
  const all = figures.map(({ route, kb }) => `${route} ${kb.toFixed(1)}`).join(", ");
  return [
    atMost(`a minute of the page that gets most, ${when}`, figures[0]?.kb ?? 0, most, "KB"),
    line(`each page, ${when}`, "", all, null),
  ];
}

async function change(db: pg.Client): Promise<void> {
  await db.query(
    `select worker.add_job('bench_traffic', json_build_object('n', n), 'bench-' || n % 7)
     from generate_series(1, ${BUSY}) as n`,
  );
  await db.query(
    `update worker._private_jobs set attempts = case when id % 2 = 0 then max_attempts else 1 end,
       last_error = 'Error: busy ' || id % 5, run_at = now() + interval '1 minute'
     where id in (select id from worker._private_jobs where attempts = 0 order by id limit ${BUSY / 2})`,
  );
  await db.query(
    `delete from worker._private_jobs
     where id in (select id from worker._private_jobs where attempts = 0 order by id limit ${BUSY / 2})`,
  );
}

async function startWire(port: number): Promise<Wire> {
  let bytes = 0;
  const sockets = new Set<net.Socket>();
  const listener = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    far.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {}).on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port: own } = listener.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/`,
    bytes: () => bytes,
    cut: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
