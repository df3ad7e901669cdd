// A client requests the largest pages on many connections and never reads them. The test checks that the admin's
// memory stays bounded, and that the admin serves another client.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import net from "node:net";
import { after, test } from "node:test";
import pg from "pg";
import { boundsMemory, memoryBound } from "../../faults/field/cgroup.ts";
import { migratedDatabase } from "../../support/database.ts";
import { startAdmin } from "../admin-process.ts";

const PASSWORD = "a-password-of-its-own";
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString("base64")}`;
const PATH = "/api/jobs?limit=500";
const CONNECTIONS = 24;

const memoryMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

// Node stores a text that contains € with two bytes for each character, and a text of ASCII characters with one byte.
for (const letter of ["x", "€"]) {
  test(`While 24 connections of one client request pages of 8 MB with "${letter}" and read none of them, the admin's memory grows by less than 400 MB.`, {
    skip: process.platform === "linux" ? false : "there is no /proc",
  }, async () => {
    const { url } = await migratedDatabase();
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    await pool.query(
      `select count(worker.add_job('t', json_build_object('a', $1::text || (
         select string_agg(md5(random()::text || n || m), '') from generate_series(1, 480) as m))))
       from generate_series(1, 520) as n`,
      [letter],
    );
    await pool.end();
    const env = { DATABASE_URL: url, WORKER_ADMIN_PASSWORD: PASSWORD };
    const bound = (await boundsMemory()) ? memoryBound(512) : null;
    const admin = await startAdmin(["--listen", "127.0.0.1:0"], {
      env,
      prefix: bound?.command ?? [],
    });
    const port = Number(new URL(admin.announced.url).port);
    // Sends a request from another address than the connections below. So the admin's limits treat it as a request of
    // another client.
    const read = async () => {
      const options = { host: "127.0.0.1", localAddress: "127.0.0.2", port, path: PATH };
      const request = http.get({ ...options, agent: false, headers: { authorization } });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      let bytes = 0;
      for await (const chunk of response) bytes += (chunk as Buffer).length;
      return { status: response.statusCode, bytes };
    };
    // On a busy machine the search for the jobs may reach its time limit. Then the page has fewer jobs.
    while ((await read()).bytes < 7 * 1_048_576);
    const before = memoryMb(admin.pid);
    const request = `GET ${PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`;
    const readers = Array.from({ length: CONNECTIONS }, () =>
      net.connect(port, "127.0.0.1").pause(),
    );
    after(() => {
      for (const socket of readers) socket.destroy();
    });
    for (const socket of readers) socket.on("error", () => {}).write(request.repeat(20));
    let most = 0;
    // On a busy machine, some requests may be rejected with 503.
    let requested = 0;
    for (let served = 0; served < 8; requested++) {
      if ((await read()).status === 200) served++;
      most = Math.max(most, memoryMb(admin.pid) - before);
      assert.ok(requested < 40, `${served} of ${requested} requests were served`);
    }
    assert.ok(most < 400, `the admin's memory grew by ${most} MB`);
    for (const socket of readers) socket.destroy();
    await admin.stop();
    await bound?.remove();
  });
}
