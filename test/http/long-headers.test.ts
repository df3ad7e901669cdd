// A single header, or the request's target, may be as long as the limit for all headers together (16 KiB). Reading it
// must be fast, whatever it contains.
import { test } from "node:test";
import { createAuthentication } from "../../src/admin/access/authentication.ts";
import { checkRead, createCsrfGuard } from "../../src/admin/access/csrf.ts";
import { createLoginThrottle } from "../../src/admin/access/login-throttle.ts";
import { generatedDerivation } from "../../src/admin/access/secret.ts";
import { resolveAuth } from "../../src/admin/config/auth-options.ts";
import { isLoopbackHost } from "../../src/admin/config/listen-address.ts";
import { assetResponse } from "../../src/admin/page/assets.ts";
import { clientAddress } from "../../src/http/bounds/client-address.ts";
import { acceptsGzip } from "../../src/http/compress.ts";
import { Refusal } from "../../src/http/refusal.ts";
import { conditional } from "../../src/http/repeat/conditional.ts";
import {
  checkHeaders,
  type HttpRequest,
  parseTarget,
  readJsonText,
} from "../../src/http/request.ts";
import { json } from "../../src/http/response.ts";
import { assertQuick } from "../support/cpu-time.ts";

const LENGTH = 16_384;
const LIMIT_MS = 5;

const units = [
  " ",
  ";",
  "=",
  '"',
  ",",
  "for",
  "for=",
  ' ;"=,',
  "/",
  "\\",
  "W/",
  "q=",
  "1",
  ":",
  "[",
  "\t",
  "e-",
];
const beginnings = [
  "",
  "for=",
  'for="',
  "Basic ",
  "application/json",
  "application/json;",
  "gzip;",
  "http://",
  'W/"',
];
const endings = ["", '"', "x", "\u2028"];

const values = units.flatMap((unit) =>
  beginnings.flatMap((begin) =>
    endings.map((end) => begin + unit.repeat((LENGTH - begin.length) / unit.length) + end),
  ),
);

const request = (name: string, value: string) =>
  ({ headers: { [name]: value }, host: value, client: "10.0.0.1" }) as unknown as HttpRequest;

const trusting = clientAddress(["10.0.0.0/8"]);
const guard = createCsrfGuard(generatedDerivation());
const asset = { contentType: "text/css", etag: '"a"', bytes: { identity: Buffer.from("a") } };
const answer = json("a".repeat(1_000));
const login = (auth: Parameters<typeof resolveAuth>[0]) =>
  createAuthentication({
    auth: resolveAuth(auth),
    label: null,
    metricsToken: null,
    onLogin: () => {},
    throttle: createLoginThrottle(),
  });
const logins = [login({ mode: "basic" }), login({ mode: "bearer" }), login({ mode: "header" })];
const refused = (work: () => void) => {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
};
const identify = (given: HttpRequest) => {
  for (const { identify } of logins) refused(() => identify(given, true));
};

const readers: Readonly<Record<string, (value: string) => unknown>> = {
  forwarded: (value) => trusting("10.0.0.1", { forwarded: value }),
  "x-forwarded-for": (value) => trusting("10.0.0.1", { "x-forwarded-for": value }),
  "accept-encoding": (value) => {
    acceptsGzip(value);
    assetResponse(request("accept-encoding", value), asset);
  },
  "if-none-match": (value) => {
    assetResponse(request("if-none-match", value), asset);
    conditional(request("if-none-match", value), answer);
  },
  authorization: (value) => identify(request("authorization", value)),
  "x-worker-admin-token": (value) => identify(request("x-worker-admin-token", value)),
  origin: (value) => refused(() => guard.checkWrite(request("origin", value))),
  "x-worker-admin-csrf": (value) =>
    refused(() => guard.checkWrite(request("x-worker-admin-csrf", value))),
  "sec-fetch-site": (value) => refused(() => checkRead(request("sec-fetch-site", value))),
  "content-type": (value) => readJsonText(request("content-type", value), 1).catch(() => {}),
  host: (value) => {
    isLoopbackHost(value);
    checkHeaders(["Host", value], "1.1", value, 100);
  },
  "transfer-encoding": (value) => checkHeaders(["Transfer-Encoding", value], "1.0", "a", 100),
  "the request's target": (value) => parseTarget(value, "a"),
};

for (const [name, read] of Object.entries(readers)) {
  test(`16 KB of anything in ${name} are read within 5 ms.`, () => {
    for (const value of values) {
      assertQuick(LIMIT_MS, JSON.stringify(value.slice(0, 20)), () => read(value));
    }
  });
}
