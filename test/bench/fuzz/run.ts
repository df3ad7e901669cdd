// Every route of the admin with hostile queries, paths and bodies, at full speed over many connections:
// no 500, no crash, memory flat. It writes: the database must be one to throw away.
//
//   npm run fuzz:admin -- --url postgres://…/throwaway \
//     [--requests 100000] [--seconds 240] [--connections 32] [--seed 1] 2>admin.log
import http from "node:http";
import { parseArgs } from "node:util";
import { random as makeRandom, type Random } from "../../support/random-calls.ts";
import { startAdminProcess } from "../admin/admin-process.ts";
import { hostileBody, hostileText, pick } from "./hostile-values.ts";

const { values: options } = parseArgs({
  options: {
    url: { type: "string" },
    requests: { type: "string", default: "100000" },
    seconds: { type: "string", default: "240" },
    connections: { type: "string", default: "32" },
    seed: { type: "string", default: "1" },
  },
});
if (options.url === undefined) throw new Error("name a database to throw away with --url");

const admin = await startAdminProcess(options.url);
const { body: document } = await admin.get("/api/openapi.json");
const { csrf_token: token } = (await admin.get("/api/session")).body;

// biome-ignore lint/suspicious/noExplicitAny: a part of an OpenAPI document
type Schema = any;
interface Operation {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly parameters: readonly { name: string; in: string; schema: Schema }[];
  readonly body: Schema | null;
}

const operations: Operation[] = Object.entries<Schema>(document.paths).flatMap(([path, item]) =>
  (["get", "post"] as const).flatMap((method) => {
    const operation = item[method];
    if (operation === undefined) return [];
    return {
      method: method === "get" ? "GET" : "POST",
      path,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content["application/json"].schema ?? null,
    } as const;
  }),
);

const resolve = (schema: Schema): Schema =>
  schema?.$ref === undefined
    ? (schema ?? {})
    : document.components.schemas[schema.$ref.split("/").at(-1)];

interface Sent {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
/** What can stand in a request line as it is. */
const isPlain = (text: string) => /^[!-~]+$/.test(text) && !/[#?/]/.test(text);

function hostileRequest(random: Random): Sent {
  const { method, path, parameters, body } = pick(random, operations);
  const inPath = path.replaceAll(/\{\w+\}/g, () => {
    const text = hostileText(random);
    return random(8) === 0 && isPlain(text) ? text : encoded(text);
  });
  const query = parameters
    .filter((one) => one.in === "query" && random(3) === 0)
    .flatMap(({ name, schema }) => {
      const one = `${encoded(name)}=${encoded(hostileText(random, resolve(schema), name))}`;
      return random(30) === 0 ? [one, one] : [one];
    });
  if (random(30) === 0)
    query.push(`${encoded(hostileText(random))}=${encoded(hostileText(random))}`);
  const headers: Record<string, string> = {};
  if (random(40) === 0) headers["last-event-id"] = `${random(100_000)}`;
  if (random(20) === 0) headers["accept-encoding"] = pick(random, ["gzip", "br", "zstd, *;q=0"]);
  if (method === "POST") {
    if (random(30) > 0) headers["x-worker-admin-csrf"] = token;
    headers["content-type"] = random(40) === 0 ? "text/plain" : "application/json";
  }
  const text = method === "POST" ? hostileBody(random, body ?? {}, resolve) : undefined;
  // Node would send the body of a DELETE without saying how long it is.
  if (text !== undefined) headers["content-length"] = String(Buffer.byteLength(text));
  return {
    route: `${method} ${path}`,
    method: random(25) === 0 ? pick(random, ["HEAD", "PUT", "DELETE", "OPTIONS"]) : method,
    path: query.length === 0 ? inPath : `${inPath}?${query.join("&")}`,
    headers,
    body: text,
  };
}

/** Streams without an end, and long ones, are left after so much. */
const MOST_BYTES = 262_144;
const MOST_STREAM_MS = 200;
/** Whatever takes longer is a finding; a download has 30 s until it begins. */
const MOST_MS = 45_000;

function answerOf(agent: http.Agent, sent: Sent): Promise<{ status: string; text: string }> {
  return new Promise((resolvePromise) => {
    const { method, path, headers, body } = sent;
    const request = http.request({
      host: "127.0.0.1",
      port: admin.port,
      method,
      path,
      agent,
      headers,
    });
    const hung = setTimeout(() => {
      resolvePromise({ status: "hung", text: "" });
      request.destroy();
    }, MOST_MS);
    request.once("close", () => clearTimeout(hung));
    const cut = (error: Error) => resolvePromise({ status: "cut", text: error.message });
    request.once("error", cut);
    request.once("response", (response) => {
      const status = String(response.statusCode);
      let [bytes, text] = [0, ""];
      const end = () => resolvePromise({ status, text });
      const leave = () => response.destroy();
      const isEndless = response.headers["content-type"]?.startsWith("text/event-stream") === true;
      if (isEndless) setTimeout(leave, MOST_STREAM_MS);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (text.length < 400) text += chunk.toString();
        if (bytes > MOST_BYTES) leave();
      });
      response.once("error", end);
      response.once("close", end);
    });
    request.end(body);
  });
}

const counts = new Map<string, Map<string, number>>();
const findings = new Map<string, { count: number; samples: string[] }>();

function note(sent: Sent, status: string, text: string): void {
  const byStatus = counts.get(sent.route) ?? new Map<string, number>();
  counts.set(sent.route, byStatus);
  byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  if (Number(status) < 500) return;
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 60);
  const key = `${status} ${code} ${sent.route}`;
  const finding = findings.get(key) ?? { count: 0, samples: [] };
  findings.set(key, finding);
  finding.count += 1;
  if (finding.samples.length >= 3) return;
  const { method, path, body = "" } = sent;
  finding.samples.push(
    `${method} ${path.slice(0, 600)} ${body.slice(0, 400)}\n      → ${text.slice(0, 300)}`,
  );
}

const most = Number(options.requests);
const until = performance.now() + Number(options.seconds) * 1_000;
let [done, begun] = [0, 0];

async function client(n: number): Promise<void> {
  const random = makeRandom(Number(options.seed) * 1_000 + n);
  // As many clients: what one of them may have at once is bounded.
  const agent = new http.Agent({
    keepAlive: true,
    maxSockets: 1,
    localAddress: `127.0.0.${2 + n}`,
  } as http.AgentOptions);
  while (begun < most && performance.now() < until) {
    begun += 1;
    const sent = hostileRequest(random);
    const { status, text: answer } = await answerOf(agent, sent);
    note(sent, status, answer);
    done += 1;
  }
  agent.destroy();
}

const began = performance.now();
const say = () => {
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    `${seconds.toFixed(0)} s: ${done} requests, ${Math.round(done / seconds)}/s, ${admin.rss_mb().toFixed(0)} MB now, ${admin.peak_mb().toFixed(0)} MB at most`,
  );
};
const saying = setInterval(say, 15_000);
await Promise.all(Array.from({ length: Number(options.connections) }, (_, n) => client(n)));
clearInterval(saying);
say();
for (const [route, byStatus] of [...counts].toSorted()) {
  const list = [...byStatus].toSorted().map(([status, count]) => `${status}: ${count}`);
  console.log(`${route.padEnd(40)} ${list.join("  ")}`);
}
console.log(findings.size === 0 ? "no 5xx, nothing cut or hung" : "findings:");
for (const [key, { count, samples }] of findings) {
  console.log(`  ${count} × ${key}`);
  for (const sample of samples) console.log(`    ${sample.replaceAll(/[^\n -~]/g, "?")}`);
}
const health = await admin.get("/healthz").catch(() => null);
console.log(health?.status === 200 ? "it is alive" : "it is DEAD");
await admin.stop();
