// Tests the page while the database is unreachable, during a restart of the admin, and while the admin does not
// respond. The page shows the problem, keeps its data, and recovers without a reload.
import assert from "node:assert/strict";
import net from "node:net";
import { after, test } from "node:test";
import pg from "pg";
import type { Page } from "playwright-core";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import {
  confirm,
  dismissNotice,
  jobButton,
  startAdmin,
  visit,
  waitForPage,
  waitForRecentData,
  waitForText,
} from "../harness.ts";

/** A proxy between the admin and PostgreSQL that can cut its connections. */
class Wire {
  readonly #sockets = new Set<net.Socket>();
  #target: net.NetConnectOpts = { port: 0 };
  readonly #listener = net.createServer((near) => {
    const far = net.connect(this.#target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });

  async open(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listener.listen(this.port, "127.0.0.1", resolve);
    await promise;
  }

  cut(): void {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  get port(): number {
    const address = this.#listener.address();
    if (address !== null) this.#port = (address as net.AddressInfo).port;
    return this.#port;
  }
  #port = 0;

  to(host = "", port = 5432): void {
    this.#target = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  }
}

async function startBehindProxy() {
  const wire = new Wire();
  await wire.open();
  after(() => wire.cut());
  const admin = await startAdmin({
    samples: false,
    through: (url) => {
      const { host, port, user = "", password = "", database } = new pg.Client(url);
      wire.to(host, port);
      const [name, secret] = [user, password ?? ""].map(encodeURIComponent);
      return `postgres://${name}:${secret}@127.0.0.1:${wire.port}/${database}`;
    },
  });
  return { wire, admin };
}

const away = /50[03] \(/;

test("During an outage of the database a banner is shown above the last data, and after the outage the data are refreshed.", async () => {
  const { wire, admin } = await startBehindProxy();
  const { id } = await admin.utils.addJob("keep_me", {}, { queueName: "kitchen" });
  const work = async ({ page }: { page: Page }) => {
    await page.locator(`#job-${id}`).waitFor();
    await waitForRecentData(page);
    await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));
    wire.cut();
    const banner = page.locator(".banner");
    await banner.getByText("Showing data from").waitFor();
    await waitForText(page, /Offline for \d+ s/);
    await page.locator(`#job-${id}`).getByText("keep_me").waitFor();
    await page.locator(".side").getByRole("link", { name: "Queues" }).click();
    await waitForPage(page, "Queues");
    await waitForText(page, "Waiting for data");
    await page.locator(".side").getByRole("link", { name: "Jobs" }).click();
    await waitForPage(page, "Jobs");

    const later = await admin.utils.addJob("added_meanwhile");
    await wire.open();
    await banner.waitFor({ state: "detached" });
    await waitForRecentData(page);
    // The list was opened during the outage, so all rows of the next answer are shown, including the added job.
    await page.locator(`#job-${later.id}`).getByText("added_meanwhile").waitFor();
    assert.equal(await page.evaluate(() => "sameDocument" in globalThis), true);
  };
  await visit(admin, "/jobs", work, { mayMeet: away });
});

test("After a restart of the server the page reconnects, and a text that was typed into a dialog before the restart can be sent.", async () => {
  const admin = await startAdmin({ samples: false });
  const { id } = await admin.utils.addJob("keep_me");
  const work = async ({ page }: { page: Page }) => {
    await waitForPage(page, `Job ${id}`);
    await waitForRecentData(page);
    await (await jobButton(page, "Fail…")).click();
    await page.getByLabel("Reason").fill("typed before the restart");
    await admin.restart(async () => {
      await waitForText(page, "The server can't be reached.");
      await page.getByRole("button", { name: `Fail job ${id}` }).click();
      await waitForText(page, "The change may have been made");
    });
    await page.locator(".banner").waitFor({ state: "detached" });
    // The page still has the old server's CSRF token, and requests the new token by itself.
    await confirm(page, [], `Fail job ${id}`);
    await dismissNotice(page, "Marked as failed: 1 of 1 job");
    await waitForText(page, "typed before the restart");
  };
  const mayMeet = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|403 \(/;
  await visit(admin, `/jobs/${id}`, work, { mayMeet });
});

test("If the server stops responding, the page shows the duration of the outage, and later also a banner. When the server responds again, the page recovers.", async () => {
  const admin = await startAdmin({ samples: false });
  const { id } = await admin.utils.addJob("keep_me");
  await using network = await tcpProxy(
    `postgres://nobody@127.0.0.1:${new URL(admin.url).port}/none`,
  );
  const url = `http://127.0.0.1:${new URL(network.url).port}/`;
  const work = async ({ page }: { page: Page }) => {
    await page.locator(`#job-${id}`).waitFor();
    await waitForRecentData(page);
    network.mute();
    await page.clock.fastForward(13_000);
    await page
      .locator(".side .fresh.late")
      .getByText(/^Offline for 1[3-9] s$/)
      .waitFor();
    assert.equal(await page.locator(".banner").count(), 0);
    await page.clock.fastForward(18_000);
    await page.locator(".banner").getByText("Showing data from").waitFor();
    await page.locator(`#job-${id}`).getByText("keep_me").waitFor();
    network.resume();
    await page.locator(".banner").waitFor({ state: "detached" });
    await waitForRecentData(page);
  };
  await visit({ url }, "/jobs", work, {
    prepare: (page) => page.clock.install(),
    mayMeet: /ERR_/,
  });
});

test("A page that is opened during an outage of the database shows the outage, and loads its data after the outage.", async () => {
  const { wire, admin } = await startBehindProxy();
  const { id } = await admin.utils.addJob("keep_me");
  wire.cut();
  const work = async ({ page }: { page: Page }) => {
    await page.locator(".banner").getByText("There is no data yet.").waitFor();
    await waitForText(page, "Waiting for data");
    await wire.open();
    await page.locator(`#job-${id}`).waitFor();
    await page.locator(".banner").waitFor({ state: "detached" });
  };
  await visit(admin, "/jobs", work, { mayMeet: away });
});
