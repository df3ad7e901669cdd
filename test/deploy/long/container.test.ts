// Tests the container image without building it: the program starts in a root directory that has the files of the
// image. Also tests compose.yaml and kubernetes/worker.yaml.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { installedProgram, newDirectory } from "../../binary/program.ts";
import { refusalOf } from "../../docs/shell-words.ts";
import { migratedDatabase } from "../../support/database.ts";
import { readDeployed, root, secondsOf } from "../files.ts";

const instructions = readDeployed("container/Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .trim()
  .split("\n")
  .map((line) => {
    const [, name = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { name, rest };
  });
const all = (name: string) =>
  instructions.filter((one) => one.name === name).map(({ rest }) => rest.trim());
const only = (name: string) => all(name)[0] ?? "";
const words = (text: string) => JSON.parse(text.slice(text.indexOf("["))) as string[];

test("The image runs as an unprivileged user, and its command and health check are valid.", () => {
  assert.match(only("USER"), /^[1-9]\d+:[1-9]\d+$/);
  const [program = "", ...first] = words(only("ENTRYPOINT"));
  assert.equal(program, "worker");
  assert.equal(refusalOf([...first, ...words(only("CMD"))]), null);
  assert.equal(refusalOf(words(only("HEALTHCHECK")).slice(1)), null);
  const ignored = readDeployed("container/Dockerfile.dockerignore").split("\n");
  for (const copied of all("COPY")) {
    assert.ok(ignored.includes(`!${copied.split(" ")[0]}`), copied);
  }
});

/** Creates the root directory of the image. Copies libraries from this machine, in place of those of the base image. */
function imageOf(program: string): string {
  const image = newDirectory();
  const put = (from: string, to: string) => {
    mkdirSync(dirname(join(image, to)), { recursive: true });
    copyFileSync(from, join(image, to));
  };
  const libraries = execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g);
  for (const [, path = ""] of libraries) put(path, path);
  for (const copied of all("COPY")) {
    const [from = "", to = ""] = copied.split(" ");
    put(from === "dist/worker" ? program : join(root, from), to);
  }
  chmodSync(image, 0o755);
  return image;
}

const isRoot = process.getuid?.() === 0;
/** Options of the program unshare. When unshare ends, all processes in its new namespaces end, too. */
const ENCLOSED = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const mayMount = spawnSync("unshare", [...ENCLOSED, "true"]).status === 0;
const skip = !isRoot
  ? "only root can change the root of a process"
  : mayMount
    ? false
    : "mounting is not allowed here";

/** In a new network namespace, the loopback device is down. Perl is used because the program `ip` may be missing. */
const LOOPBACK_UP = `perl -e 'my $up = pack "a16 s", "lo", 1; socket(S, 2, 2, 0); ioctl(S, 0x8914, $up) or die $!'`;

const NAME = ".s.PGSQL.5432";

/**
 * Creates a socket that relays to the tests' PostgreSQL server, because the image's user may not use the server's own
 * socket. `database`: the directory of the new socket. `relayed`: the URL of the database over the new socket.
 */
async function relay(url: string): Promise<{ database: string; relayed: string }> {
  const relayed = new URL(url);
  const { hostname: host, port, searchParams } = relayed;
  const socket = searchParams.get("host");
  const to = socket === null ? { host, port: Number(port || 5432) } : { path: join(socket, NAME) };
  const database = newDirectory();
  const server = net.createServer((client) => {
    const behind = net.connect(to);
    client.on("error", () => behind.destroy());
    behind.on("error", () => client.destroy());
    client.pipe(behind).pipe(client);
  });
  server.listen({ path: join(database, NAME), writableAll: true });
  await once(server, "listening");
  after(() => server.close());
  relayed.port = "5432";
  searchParams.set("host", database);
  return { database, relayed: relayed.href };
}

test("The image's program runs on a read-only root as the image's user, is healthy, and stops on the image's stop signal.", {
  skip,
}, async () => {
  const { url } = await migratedDatabase();
  const { database, relayed } = await relay(url);
  const image = imageOf(await installedProgram());
  for (const place of [database, "proc"]) mkdirSync(join(image, place), { recursive: true });
  const variables = only("ENV").split(/\s+/);
  const run = (args: readonly string[]) => {
    const quoted = args.map((word) => `'${word}'`).join(" ");
    return `env -i ${variables.join(" ")} DATABASE_URL="$DATABASE_URL" WORKER_ADMIN_PASSWORD=of-the-image "$chroot" --userspec=${only("USER")} '${image}' ${quoted}`;
  };
  const script = join(newDirectory(), "start.sh");
  const signal = only("STOPSIGNAL").replace("SIG", "");
  writeFileSync(
    script,
    `set -eu
    chroot=$(command -v chroot)
    ${LOOPBACK_UP}
    mount --bind '${image}' '${image}'
    mount -o remount,ro,bind '${image}'
    mount --bind '${database}' '${image}${database}'
    mount -t proc proc '${image}/proc'
    ${run([...words(only("ENTRYPOINT")), ...words(only("CMD"))])} &
    pid=$!
    tries=0
    until ${run(words(only("HEALTHCHECK")))} 2>/dev/null; do
      tries=$((tries + 1)); test $tries -lt 100
    done
    grep -E '^(Uid|Gid|CapEff)' /proc/$pid/status
    kill -${signal} $pid
    wait $pid
    echo stopped
    `,
  );
  const { stdout } = await promisify(execFile)("unshare", [...ENCLOSED, "sh", script], {
    env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: relayed },
    timeout: 60_000,
  });
  const [uid = ""] = only("USER").split(":");
  assert.match(stdout, /\nready\n/);
  assert.match(stdout, new RegExp(`^Uid:\\s+${uid}\\s`, "m"));
  assert.match(stdout, /^CapEff:\s+0{16}$/m);
  assert.match(stdout, /stopped\n$/);
});

// biome-ignore lint/suspicious/noExplicitAny: the content of YAML; the assertions check its types
type Yaml = any;

test("compose.yaml has valid commands, and passes secrets that the program reads.", () => {
  const { services, secrets } = parse(readDeployed("container/compose.yaml"), {
    merge: true,
  }) as Yaml;
  assert.deepEqual(Object.keys(services).sort(), ["admin", "database", "migrate", "worker"]);
  for (const name of ["migrate", "worker", "admin"]) {
    const service = services[name];
    assert.equal(refusalOf(service.command), null, name);
    assert.equal(service.read_only, true);
    assert.deepEqual(service.cap_drop, ["ALL"]);
    for (const [variable, file] of Object.entries<string>(service.environment)) {
      assert.match(variable, /^(DATABASE_URL|WORKER_ADMIN_PASSWORD)_FILE$/);
      assert.ok(service.secrets.includes(file.replace("/run/secrets/", "")), variable);
    }
    for (const secret of service.secrets) assert.ok(secret in secrets, secret);
    for (const other of Object.keys(service.depends_on)) assert.ok(other in services, other);
  }
  assert.ok(secondsOf(services.worker.stop_grace_period) >= 35);
});

test("kubernetes/worker.yaml has valid commands, probes existing routes, and gives long jobs time to end.", () => {
  const documents: Yaml[] = parseAllDocuments(readDeployed("kubernetes/worker.yaml")).map(
    (document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS();
    },
  );
  const labels = documents.flatMap(({ spec }) => spec.template?.metadata.labels ?? []);
  for (const { kind, metadata, spec } of documents) {
    const selector = spec.selector?.matchLabels ?? (kind === "Service" ? spec.selector : undefined);
    if (selector !== undefined)
      assert.ok(
        labels.some((one) => isSubset(selector, one)),
        metadata.name,
      );
    const pod = spec.template?.spec;
    if (pod === undefined) continue;
    assert.equal(pod.securityContext.runAsUser, Number(only("USER").split(":")[0]));
    for (const { args, env, ports = [], ...container } of pod.containers) {
      assert.equal(refusalOf(args), null, args.join(" "));
      assert.equal(container.securityContext.readOnlyRootFilesystem, true);
      for (const { name, valueFrom } of env) {
        const key = name.toLowerCase().replaceAll("_", "-").replace("worker-", "");
        assert.equal(valueFrom.secretKeyRef.key, key);
      }
      for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
        if (container[probe] === undefined) continue;
        const { path, port } = container[probe].httpGet;
        assert.match(path, /^\/(healthz|readyz)$/);
        assert.ok(
          ports.some((one: Yaml) => one.name === port),
          port,
        );
      }
      const given = (option: string) => secondsOf(args[args.indexOf(option) + 1] ?? "");
      if (!args.includes("--stop-timeout")) continue;
      const longestS = given("--stop-timeout") + given("--abort-grace");
      assert.ok(pod.terminationGracePeriodSeconds >= longestS + 5);
    }
  }
});

function isSubset(some: Record<string, string>, all: Record<string, string>): boolean {
  return Object.entries(some).every(([name, value]) => all[name] === value);
}

test("docs/deploy.md links to every file of deploy/.", () => {
  const guide = readFileSync(join(root, "docs/deploy.md"), "utf8");
  const names = execFileSync("find", [join(root, "deploy"), "-type", "f"], { encoding: "utf8" });
  for (const path of names.trim().split("\n")) {
    const name = path.slice(root.length + 1).replace(/\.dockerignore$/, "");
    assert.ok(guide.includes(`(../${name})`), name);
  }
});
