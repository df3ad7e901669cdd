// Makes random requests to all routes of an OpenAPI document. The parts of a request are valid, nearly valid or
// invalid.
import type { Random } from "../../support/random-calls.ts";
import { hostileBody, hostileText, pick } from "./hostile-values.ts";

// biome-ignore lint/suspicious/noExplicitAny: a part of an OpenAPI document
type Schema = any;

interface Operation {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query: readonly { readonly name: string; readonly schema: Schema }[];
  readonly body: Schema | null;
  /** How often the operation is requested, relative to other operations. */
  readonly weight: number;
  /** Whether the response may be long, or has no end. */
  readonly isLong: boolean;
}

export interface Hostile {
  readonly route: string;
  readonly bytes: string;
  readonly isHead: boolean;
  /** Whether no other request may be in progress on the same connection. */
  readonly isAlone: boolean;
}

type Resolve = (schema: Schema) => Schema;

export type HostileRequests = (random: Random) => Hostile;

/** Returns a function that makes random requests. `token`: the CSRF token for writes. */
export function hostileRequests(document: Schema, host: string, token: string): HostileRequests {
  const resolve: Resolve = (schema) =>
    schema?.$ref === undefined
      ? (schema ?? {})
      : document.components.schemas[schema.$ref.split("/").at(-1)];
  const drawn = operationsOf(document, resolve).flatMap((one) =>
    Array<Operation>(one.weight).fill(one),
  );

  return (random) => {
    const { method, path, query, body, isLong } = pick(random, drawn);
    const sound = pick(random, SOUND);
    const target = hostileTarget(random, { path, query, sound }, resolve);
    const sent = random(25) === 0 ? pick(random, ["HEAD", "PUT", "DELETE", "OPTIONS"]) : method;
    const headers = [`${sent} ${target} HTTP/1.1`, `host: ${host}`];
    if (random(40) === 0) headers.push(`last-event-id: ${random(100_000)}`);
    if (random(20) === 0) headers.push(`accept-encoding: ${pick(random, ENCODINGS)}`);
    if (random(20) === 0) headers.push(`if-none-match: ${pick(random, TAGS)}`);
    let text = "";
    if (method === "POST") {
      if (random(30) > 0) headers.push(`x-worker-admin-csrf: ${token}`);
      headers.push(`content-type: ${random(40) === 0 ? "text/plain" : "application/json"}`);
      text = hostileBody(random, sound, body ?? {}, resolve).toWellFormed();
      headers.push(`content-length: ${Buffer.byteLength(text)}`);
    }
    const head = `${headers.join("\r\n")}\r\n\r\n`;
    return {
      route: `${method} ${path}`,
      bytes: head + text,
      isHead: sent === "HEAD",
      // The client closes the connection in the middle of a long response, so later responses would be lost. The server
      // may refuse a large head before its end. Then the test could not determine which of several requests was
      // refused.
      isAlone: isLong || head.length > LARGE_HEAD_BYTES,
    };
  };
}

/** One of these numbers, from 0 to 9, is drawn for each request. A higher number makes more values valid. */
const SOUND = [9, 5, ...Array<number>(28).fill(0)];

/** Rarely requested routes: they have few inputs, and some do a hundred times the work of other routes. */
const RARE =
  /^\/api\/(?:maintenance|indexes|extensions|database|openapi|events)|^\/(?:assets|metrics)/;
const LARGE_HEAD_BYTES = 15_000;
const ENCODINGS = ["gzip", "br", "zstd, *;q=0", "identity;q=0", "gzip;q=nan,,", "*"];
const TAGS = ["*", '"a"', 'W/"a", "b"', '"', "nothing"];

function fieldsOf(body: Schema | null, resolve: Resolve): number {
  const schema = resolve(body);
  const all = [schema, ...(schema.anyOf ?? schema.oneOf ?? []).map(resolve)];
  return new Set(all.flatMap(({ properties }) => Object.keys(properties ?? {}))).size;
}

function operationsOf(document: Schema, resolve: Resolve): Operation[] {
  return Object.entries<Schema>(document.paths).flatMap(([path, item]) =>
    (["GET", "POST"] as const).flatMap((method) => {
      const operation = item[method.toLowerCase()];
      if (operation === undefined) return [];
      const query = (operation.parameters ?? []).filter((one: Schema) => one.in === "query");
      const body = operation.requestBody?.content["application/json"].schema ?? null;
      const places = path.split("{").length - 1;
      const inputs = places + query.length + fieldsOf(body, resolve);
      const weight = RARE.test(path) ? 1 : 4 * (1 + inputs ** 2);
      const isLong = /^\/(?:api\/(?:events|export)|assets)/.test(path);
      return [{ method, path, query, body, weight, isLong }];
    }),
  );
}

function hostileTarget(
  random: Random,
  { path, query: parameters, sound }: Pick<Operation, "path" | "query"> & { sound: number },
  resolve: Resolve,
): string {
  const inPath = path.replaceAll(/\{\w+\}/g, () => {
    const text = hostileText(random, sound);
    return random(8) === 0 && isPlain(text) ? text : encoded(text);
  });
  const isWild = sound < 5;
  const query = parameters
    .filter(() => random(6) < (isWild ? 5 : 2))
    .flatMap(({ name, schema }) => {
      const one = `${encoded(name)}=${encoded(hostileText(random, sound, resolve(schema), name))}`;
      return random(30) === 0 ? [one, one] : [one];
    });
  if (random(30) === 0 || (isWild && random(query.length + 1) === 0))
    query.push(`${encoded(hostileText(random, 0))}=${encoded(hostileText(random, 0))}`);
  return query.length === 0 ? inPath : `${inPath}?${query.join("&")}`;
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
/** Whether the text can be a segment of a path without escapes. */
const isPlain = (text: string) => /^[!-~]+$/.test(text) && !/[#?/]/.test(text);
