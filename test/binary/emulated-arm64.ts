// Tests the executable for Linux on arm64, from dist/release, in the emulator qemu. `npm run test:arm64` runs this
// file. The test needs Debian's packages qemu-user, libc6-arm64-cross and libstdc++6-arm64-cross. Child processes are
// not emulated, so tasks that are programs are not tested here.
import assert from "node:assert/strict";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filesOf } from "../cli/run-harness.ts";
import { emptyDatabase } from "../support/database.ts";
import { newDirectory, root, run, start } from "./program.ts";

const SYSTEM = "/usr/aarch64-linux-gnu";
const built = join(root, "dist/release/worker-linux-arm64");
const program = join(newDirectory(), "worker");
writeFileSync(program, `#!/bin/sh\nexec qemu-aarch64 -L ${SYSTEM} '${built}' "$@"\n`);
chmodSync(program, 0o755);

test("The executable for arm64 migrates, adds, runs tasks in TypeScript, and serves the admin.", async () => {
  assert.ok(existsSync(built), "build the executable first: npm run build -- --all");
  assert.ok(
    existsSync(`${SYSTEM}/lib/libstdc++.so.6`),
    "install the C++ library first: apt-get install libstdc++6-arm64-cross",
  );
  const env = { DATABASE_URL: (await emptyDatabase()).url };
  const succeeds = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(program, args, { env });
    assert.equal(status, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  assert.match(await succeeds("--version"), /^\d+\.\d+\.\d+\n$/);
  await succeeds("migrate");
  const tasks = filesOf({
    "print.ts": "export default (word: string): void => console.log(process.arch, word);",
  });
  await succeeds("add", "print", '"hello"');
  assert.equal(
    await succeeds("run", "--tasks", tasks, "--once"),
    "arm64 hello\n1 done, 0 failed\n",
  );
  const service = await start(program, ["admin"], { env });
  await succeeds("healthcheck", service.announced.url);
  assert.deepEqual(await service.stop("SIGTERM"), { status: 0, signal: null });
});
