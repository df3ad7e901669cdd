// Bytes that strain a reader of HTTP: broken lines, contradictory lengths, invalid chunks, floods of headers, half
// requests, bodies that arrive in pieces or never. Some kinds are valid, such as many requests at once.
import type { Random } from "../../support/random-calls.ts";
import { hostileText, pick } from "./hostile-values.ts";

export interface HostileBytes {
  readonly kind: string;
  /** The pieces, written one after the other with pauses. */
  readonly pieces: readonly (string | Buffer)[];
  /** The maximum number of responses. The admin may also send fewer, and close the connection. */
  readonly most: number;
  /**
   * Whether the admin must respond or close the connection. False if the pieces may be only a part of a request: the
   * admin may then wait for the rest.
   */
  readonly isWhole: boolean;
}

type Maker = (random: Random, host: string) => Partial<HostileBytes> & Pick<HostileBytes, "pieces">;

const PATHS = ["/api/jobs?limit=x", "/api/jobs/x7", "/api/jobs/7", "/healthz", "/api/maintenance"];
const word = (random: Random) => hostileText(random, 0).toWellFormed();
const get = (random: Random, host: string, more = "") =>
  `GET ${pick(random, PATHS)} HTTP/1.1\r\nhost: ${host}\r\n${more}`;
const post = (random: Random, host: string, more = "") =>
  `POST ${pick(random, PATHS)} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n${more}`;
const noise = (random: Random, length: number) =>
  Buffer.from(Array.from({ length: length }, () => random(256)));
const json = (random: Random) => JSON.stringify({ identifier: word(random) });

const kinds: Readonly<Record<string, Maker>> = {
  noise: (random) => ({ pieces: [noise(random, 1 + random(200)), "\r\n\r\n"] }),
  "request line": (random, host) => {
    const [method, target, version] = [
      pick(random, ["GET", "get", "G(T", "TRACE", "CONNECT", "PURGE", "", "POST\t", word(random)]),
      pick(random, [`/${word(random)}`, "*", "", `http://${word(random)}/`, "//", "/a b", "\\"]),
      pick(random, ["HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/3.0", "http/1.1", "", word(random)]),
    ];
    return { pieces: [`${method} ${target} ${version}\r\nhost: ${host}\r\n\r\n`] };
  },
  "another protocol": (random, host) => ({
    pieces: [
      pick<string | Buffer>(random, [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        Buffer.concat([Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), noise(random, 300)]),
        get(random, host, "connection: upgrade\r\nupgrade: h2c\r\nhttp2-settings: AAMA\r\n\r\n"),
        get(random, host, "connection: upgrade\r\nupgrade: websocket\r\n\r\n"),
        `SSH-2.0-${word(random)}\r\n\r\n`,
      ]),
    ],
  }),
  "header line": (random, host) => {
    const line = pick(random, [
      word(random),
      `: ${word(random)}`,
      `a : ${word(random)}`,
      `x: a\0b${random(10)}`,
      `x: a\r\n folded ${word(random)}`,
      `x: a\rb${random(10)}`,
      `x: a\nhost: other${random(10)}`,
      `host: ${word(random)}`,
      `expect: ${word(random)}`,
      `x-forwarded-for: ${word(random)}`,
      `content-encoding: ${word(random)}`,
      `authorization: ${word(random)}`,
      `if-none-match: ${word(random)}`,
      `origin: ${word(random)}`,
    ]);
    return { pieces: [get(random, host, `${line}\r\n\r\n`)] };
  },
  "flood of headers": (random, host) => {
    const count = pick(random, [50, 99, 101, 300, 900]);
    const lines = Array.from({ length: count }, (_, n) => `x${n}: ${random(1_000)}\r\n`);
    return { pieces: [get(random, host, `${lines.join("")}\r\n`)] };
  },
  "large header": (random, host) => {
    const large = word(random)
      .charAt(0)
      .padEnd(14_000 + random(8_000), "h");
    const request = pick(random, [
      get(random, host, `x: ${large}\r\n\r\n`),
      `GET /${large} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      get(random, host, `${large}: x\r\n\r\n`),
    ]);
    return { pieces: [request] };
  },
  lengths: (random, host) => {
    const body = json(random);
    const length = Buffer.byteLength(body);
    const lines = pick(random, [
      `content-length: ${length}\r\ncontent-length: ${length + 1 + random(9)}`,
      `content-length: ${length}\r\ncontent-length: ${length}`,
      `content-length: ${length}, ${length}`,
      `content-length: -${length}`,
      `content-length: +${length}`,
      `content-length: 0x${length.toString(16)}`,
      `content-length: ${word(random)}`,
      "content-length: 99999999999999999999",
      `content-length: ${length}\r\ntransfer-encoding: chunked`,
      "transfer-encoding: chunked, identity",
      "transfer-encoding: gzip, chunked",
      `transfer-encoding: ${word(random)}`,
      "transfer-encoding:\tchunked\r\ntransfer-encoding: cow",
    ]);
    // Bytes after the body may be read as another request, so there may be several responses. Some lengths are larger
    // than the body, so the admin may wait for the rest.
    const pieces = [post(random, host, `${lines}\r\n\r\n${body}`)];
    return { pieces, most: 3, isWhole: false };
  },
  chunks: (random, host) => {
    const body = json(random);
    const size = Buffer.byteLength(body).toString(16);
    const chunks = pick(random, [
      `${size}\r\n${body}\r\n0\r\n\r\n`,
      `${size};${word(random)}\r\n${body}\r\n0\r\n\r\n`,
      `${size}\r\n${body}0\r\n\r\n`,
      `${size}\r\n${body}\r\n0\r\nx: ${word(random)}\r\n\r\n`,
      `-${size}\r\n${body}\r\n0\r\n\r\n`,
      `ffffffffffffffff1\r\n${body}\r\n`,
      `${word(random)}\r\n${body}\r\n0\r\n\r\n`,
      `${size}\n${body}\n0\n\n`,
      `${size};${"e".repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`,
      `${[...body].map((one) => `${Buffer.byteLength(one).toString(16)}\r\n${one}\r\n`).join("")}0\r\n\r\n`,
    ]);
    const head = post(random, host, "transfer-encoding: chunked\r\n\r\n");
    return { pieces: [head, chunks], most: 3, isWhole: false };
  },
  half: (random, host) => {
    const whole = post(random, host, `content-length: 100\r\n\r\n${json(random)}`);
    return { pieces: [whole.slice(0, 1 + random(whole.length - 1))], isWhole: false };
  },
  "in pieces": (random, host) => {
    const body = json(random);
    const whole = Buffer.from(
      post(random, host, `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    );
    const [a, b] = [random(whole.length), random(whole.length)].sort((x, y) => x - y);
    return { pieces: [whole.subarray(0, a), whole.subarray(a, b), whole.subarray(b)] };
  },
  "body that does not come": (random, host) => {
    const length = pick(random, [1, 5_000, 2_000_000, 2 ** 31, 2 ** 40]);
    const expects = random(2) === 0 ? "expect: 100-continue\r\n" : "";
    const pieces = [post(random, host, `${expects}content-length: ${length}\r\n\r\n`)];
    if (length > 1) pieces.push(json(random));
    return { pieces, isWhole: false };
  },
  "large body": (random, host) => {
    const length = 1_048_000 + random(3_000);
    const body = `{"identifier":"${"x".repeat(length)}"}`;
    return { pieces: [post(random, host, `content-length: ${body.length}\r\n\r\n`), body] };
  },
  "behind a request": (random, host) => ({
    pieces: [
      Buffer.concat([Buffer.from(get(random, host, "\r\n")), noise(random, 40)]),
      "\r\n\r\n",
    ],
    most: 2,
  }),
  "many at once": (random, host) => {
    const most = 2 + random(12);
    return { pieces: [get(random, host, "\r\n").repeat(most)], most };
  },
};

const names = Object.keys(kinds).flatMap((name) => {
  return Array<string>(name === "large body" ? 1 : 20).fill(name);
});

export function hostileBytes(random: Random, host: string): HostileBytes {
  const kind = pick(random, names);
  const made = kinds[kind]?.(random, host);
  return { kind, most: 1, isWhole: true, pieces: [], ...made };
}
