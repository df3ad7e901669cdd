// Tests the claim on the data directory of an embedded server. The directory never has two running owners, and the
// claim of a process that has ended does not prevent the next claim.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { claimDirectory } from "../../../src/database/embedded/owner.ts";

const base = mkdtempSync(join(tmpdir(), "worker-owner-"));
after(() => rmSync(base, { recursive: true, force: true }));
const newDirectory = () => mkdtempSync(join(base, "d"));

test("A claim is exclusive until it is released.", () => {
  const directory = newDirectory();
  const first = claimDirectory(directory);
  assert.throws(() => claimDirectory(directory), { code: "embedded_server" });
  first.release();
  first.release();
  const second = claimDirectory(directory);
  assert.ok(second.generation > first.generation);
  first.release();
  assert.throws(() => claimDirectory(directory), { code: "embedded_server" });
  second.release();
  assert.equal(readdirSync(directory).length, 1);
});

test("A claim on a directory that was deleted is released without an error.", () => {
  const directory = newDirectory();
  const claim = claimDirectory(directory);
  rmSync(directory, { recursive: true });
  claim.release();
});

test("The claim of a process that has ended does not count, even if another process now has its id.", () => {
  const { pid } = process;
  for (const owner of ["999999999:1:x", `${pid}:1:${"0".repeat(36)}`, "released", "", "?", "-1:"]) {
    const directory = newDirectory();
    symlinkSync(owner || " ", join(directory, "owner.7"));
    assert.equal(claimDirectory(directory).generation, 8);
  }
});

test("Many processes that start, end and are killed never own a directory at the same time.", async () => {
  const directory = newDirectory();
  const owner = JSON.stringify(
    join(import.meta.dirname, "../../../src/database/embedded/owner.ts"),
  );
  // Each owner writes its pid into a new file `inside`, and removes the file before releasing the directory. A new
  // owner that finds the file of a running process exits with 3. About one owner in fifty ends itself with SIGKILL
  // while its file exists. The next owner removes this file.
  const script = `
    import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
    import { claimDirectory, isAlive } from ${owner};
    const inside = ${JSON.stringify(join(directory, "inside"))};
    let claims = 0;
    for (let i = 0; i < 3000 && claims < 150; i++) {
      let claim;
      try { claim = claimDirectory(${JSON.stringify(directory)}); }
      catch (error) { if (error.code === "embedded_server") continue; throw error; }
      claims++;
      if (existsSync(inside) && isAlive(Number(readFileSync(inside, "utf8")))) process.exit(3);
      rmSync(inside, { force: true });
      writeFileSync(inside, String(process.pid), { flag: "wx" });
      if (Math.random() < 0.02) process.kill(process.pid, "SIGKILL");
      if (readFileSync(inside, "utf8") !== String(process.pid)) process.exit(4);
      rmSync(inside);
      claim.release();
    }
  `;
  const ends = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      const [status, signal] = await once(child, "exit");
      return status ?? signal;
    }),
  );
  assert.deepEqual(
    ends.filter((end) => end !== 0 && end !== "SIGKILL"),
    [],
  );
  claimDirectory(directory).release();
});
