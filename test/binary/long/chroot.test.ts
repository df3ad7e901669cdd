// Runs the executable as in a container image without a distribution. The root directory is read-only. It contains only
// the executable, the libraries that the executable needs (such as glibc and libstdc++), a task, and the directory of
// PostgreSQL's socket. The user is 65534. No environment variable is set except DATABASE_URL.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { emptyDatabase } from "../../support/database.ts";
import { installedProgram, newDirectory, run, start } from "../program.ts";

const NOBODY = "65534";
const mayMount = spawnSync("unshare", ["--mount", "true"]).status === 0;
const skip =
  process.getuid?.() !== 0
    ? "only root can change the root of a process"
    : mayMount
      ? false
      : "mounting is not allowed here";

/** Creates a root directory with the program, the libraries that it needs, and a task. Returns its path. */
function rootOf(program: string): string {
  const root = newDirectory();
  const put = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(from, join(root, to));
  };
  put(program, "worker");
  const libraries = execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g);
  for (const [, path = ""] of libraries) put(path, path);
  mkdirSync(join(root, "tasks"));
  const text = `import { writeFileSync } from "node:fs";
    export default (payload: object): void => {
      console.log(process.getuid(), Object.keys(process.env).join());
      try { writeFileSync("/written", ""); } catch (error) { console.log(error.code); }
    };`;
  writeFileSync(join(root, "tasks/looks.ts"), text);
  chmodSync(root, 0o755);
  return root;
}

/**
 * Returns the path of a script that makes `root` read-only and runs `worker` with `root` as its root directory.
 * `socket`: the directory of PostgreSQL's socket, which gets the same path in `root`; null: there is none.
 */
function enclosed(root: string, socket: string | null): string {
  const program = join(newDirectory(), "worker");
  if (socket !== null) mkdirSync(join(root, socket), { recursive: true });
  const lets = socket === null ? "" : `mount --bind '${socket}' '${root}${socket}'`;
  const inside = `mount --bind '${root}' '${root}' && mount -o remount,ro,bind '${root}' || exit 99
    ${lets}
    exec env -i \${DATABASE_URL:+DATABASE_URL="$DATABASE_URL"} \\
      "$(command -v chroot)" --userspec=${NOBODY}:${NOBODY} '${root}' /worker "$@"`;
  writeFileSync(`${program}.sh`, inside);
  writeFileSync(program, `#!/bin/sh\nexec unshare --mount /bin/sh '${program}.sh' "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}

test("The executable works with only glibc, libstdc++ and libgcc, as an unprivileged user, and writes no file.", {
  skip,
}, async () => {
  const { url } = await emptyDatabase();
  const socket = new URL(url).searchParams.get("host");
  const program = enclosed(rootOf(await installedProgram()), socket);
  const env = { DATABASE_URL: url };
  const succeeds = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(program, args, { env });
    assert.equal(status, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  assert.match((await run(program, ["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  await succeeds("migrate");
  await succeeds("add", "looks");
  const ran = await succeeds("run", "--tasks", "/tasks", "--once");
  assert.equal(ran, `${NOBODY} DATABASE_URL\nEROFS\n1 done, 0 failed\n`);
  await succeeds("doctor", "--json");
  const service = await start(program, ["admin"], { env });
  await succeeds("healthcheck", service.announced.url);
  assert.deepEqual(await service.stop("SIGTERM"), { status: 0, signal: null });
  const demo = await run(program, ["demo"], { env: {} });
  assert.equal(demo.status, 1);
  assert.match(demo.stderr, /^worker: no directory is usable for the PostgreSQL files[^\n]*\n$/);
});
