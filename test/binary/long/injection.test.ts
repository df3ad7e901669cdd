// Tests that the executable loads only its own code and the modules that its options name, whatever the environment
// variables, the working directory and the home directory contain. Also tests that SIGUSR1 opens no debugger. The first
// test shows that three of the variables have an effect on Node itself.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { filesOf, startRun } from "../../cli/run-harness.ts";
import { migratedDatabase } from "../../support/database.ts";
import { installedProgram, newDirectory, run, start } from "../program.ts";

const program = await installedProgram();

/** If an attack succeeds, the code `intruder` runs and creates the file `mark` in this directory. */
const place = newDirectory();
const mark = join(place, "mark");
const intruder = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`;
const hostile = filesOf({
  "intruder.cjs": intruder,
  // The only provider in this OpenSSL configuration is a missing library. A program that uses the configuration fails.
  "openssl.cnf": `nodejs_conf = all\n[all]\nproviders = some\n[some]\none = its\n[its]\nmodule = ${place}/intruder.so\nactivate = 1\n`,
  "node_modules/absent/index.js": intruder,
  ".node_modules/absent/index.js": intruder,
  "node_modules/pg-native/index.js": intruder,
  "node_modules/pg-cloudflare/index.js": intruder,
  "tasks/intruder.js": intruder,
  "main.js": intruder,
  "entry.cjs": intruder,
  "package.json": '{"version":"6.6.6","main":"main.js","yargs":{"boolean-negation":false}}',
  ".npmrc": "node-options=--require ./intruder.cjs\n",
  ".env": "NODE_OPTIONS=--require ./intruder.cjs\n",
  "node.config.json": '{"nodeOptions":{"require":["./intruder.cjs"]}}',
  "locales/en.json": "{}",
  crontab: "nonsense",
});
const intruderFile = join(hostile, "intruder.cjs");
const ENVIRONMENT = {
  NODE_OPTIONS: `--require ${intruderFile}`,
  NODE_PATH: join(hostile, "node_modules"),
  HOME: hostile,
  OPENSSL_CONF: join(hostile, "openssl.cnf"),
  OPENSSL_MODULES: place,
  OPENSSL_ENGINES: place,
  NODE_ICU_DATA: place,
  PKG_EXECPATH: "PKG_INVOKE_NODEJS",
  WORKER_RUN_TASKS: join(hostile, "tasks"),
  WORKER_RUN_PLUGIN: intruderFile,
};

let env: Record<string, string>;
beforeEach(async () => {
  env = { PATH: "/usr/bin:/bin", DATABASE_URL: (await migratedDatabase()).url };
});

function inHostileDirectory(args: readonly string[], more: Record<string, string> = {}) {
  return spawnSync(program, args, { cwd: hostile, env: { ...env, ...more }, encoding: "utf8" });
}

test("NODE_OPTIONS, OPENSSL_CONF and NODE_COMPILE_CACHE have an effect on Node itself.", () => {
  execFileSync(process.execPath, ["-e", "0"], { env: { NODE_OPTIONS: ENVIRONMENT.NODE_OPTIONS } });
  assert.ok(existsSync(mark));
  const { OPENSSL_CONF } = ENVIRONMENT;
  const broken = spawnSync(process.execPath, ["-e", "0"], { env: { OPENSSL_CONF } });
  assert.notEqual(broken.status, 0);
  const cache = newDirectory();
  const file = join(filesOf({ "it.cjs": "" }), "it.cjs");
  execFileSync(process.execPath, [file], { env: { NODE_COMPILE_CACHE: cache } });
  assert.notEqual(readdirSync(cache).length, 0);
  execFileSync("rm", [mark]);
});

test("The executable loads no code from the environment or the working directory.", async () => {
  const tasks = filesOf({
    "asks.cjs": `module.exports = () => {
      try { require("absent"); } catch (error) { console.log(error.code); }
      console.log(require("node:crypto").randomBytes(1).length);
    };`,
    program: "#!/bin/sh\nexit 0\n",
  });
  for (const task of ["asks", "program"]) {
    assert.equal(inHostileDirectory(["add", task], ENVIRONMENT).status, 0);
  }
  const args = ["run", "--tasks", tasks, "--once"];
  const { status, stdout, stderr } = inHostileDirectory(args, ENVIRONMENT);
  assert.equal(status, 0, stderr);
  assert.equal(stdout, "MODULE_NOT_FOUND\n1\n2 done, 0 failed\n");
  const unnamed = inHostileDirectory(["run"], ENVIRONMENT);
  assert.deepEqual([unnamed.status, unnamed.stdout], [2, ""]);
  assert.notEqual(inHostileDirectory(["--version"], ENVIRONMENT).stdout, "6.6.6\n");
  assert.ok(!existsSync(mark));
});

test("With NODE_REPL_EXTERNAL_MODULE the executable does not start, and does not load the module.", () => {
  const { status } = inHostileDirectory(["status"], { NODE_REPL_EXTERNAL_MODULE: intruderFile });
  assert.notEqual(status, 0);
  assert.ok(!existsSync(mark));
});

test("The executable writes no compiled code to the cache that NODE_COMPILE_CACHE names.", async () => {
  const cache = newDirectory();
  const tasks = filesOf({ "print.cjs": "module.exports = () => console.log('printed');" });
  assert.equal(inHostileDirectory(["add", "print"]).status, 0);
  const args = ["run", "--tasks", tasks, "--once"];
  const { status, stdout, stderr } = inHostileDirectory(args, { NODE_COMPILE_CACHE: cache });
  assert.deepEqual([status, stdout], [0, "printed\n1 done, 0 failed\n"], stderr);
  assert.deepEqual(readdirSync(cache), []);
});

test("The executable rejects options of Node, and loads no module that such an option names.", async () => {
  for (const word of ["--inspect=127.0.0.1:0", "--require=./intruder.cjs", "-e0"]) {
    const { status, stderr } = inHostileDirectory([word, "status"]);
    assert.deepEqual(
      [status, /has no option|unknown/.test(stderr)],
      [2, true],
      `${word}: ${stderr}`,
    );
  }
  assert.ok(!existsSync(mark));
});

test("SIGUSR1 does not end the admin and opens no debugger in it.", async () => {
  const service = await start(program, ["admin"], { env });
  const { url } = service.announced;
  service.send("SIGUSR1");
  // If the signal opened a debugger, Node would print the debugger's address to stderr during these requests.
  for (let n = 0; n < 10; n++) assert.equal((await fetch(new URL("readyz", url))).status, 200);
  assert.deepEqual(await service.stop("SIGTERM"), { status: 0, signal: null });
  assert.doesNotMatch(service.stderr(), /debugger/i);
});

test("SIGUSR1 opens no debugger in a worker or in a process that the worker has started.", async () => {
  const tasks = filesOf({
    print: '#!/bin/sh\necho "still here"\n',
    "parent.cjs": "module.exports = () => console.log(process.pid);",
  });
  const running = startRun(["--tasks", tasks], env, [program]);
  await running.logged("the worker has started");
  assert.equal((await run(program, ["add", "print"], { env })).status, 0);
  await running.logged("still here");
  const seen = running.count;
  const all = [running.pid, ...childrenOf(running.pid)];
  assert.ok(all.length > 1, "the worker has not started a process");
  for (const pid of all) process.kill(pid, "SIGUSR1");
  assert.equal((await run(program, ["add", "print"], { env })).status, 0);
  await running.logged("still here", seen);
  running.send("SIGTERM");
  const { status, stderr } = await running.ended;
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /debugger/i);
});

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const direct = text === "" ? [] : text.split(" ").map(Number);
  return direct.flatMap((child) => [child, ...childrenOf(child)]);
}
