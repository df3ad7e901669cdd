// The page's files, from dist/ui/assets.json, and the response to a request for a file.
import { gunzipSync } from "node:zlib";
import { WorkerError } from "../../base/errors.ts";
import { MAX_CODINGS } from "../../http/compress.ts";
import { type HttpRequest, header } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";

/** A file of dist/ui/assets.json, with its contents in base64. */
export interface EmbeddedAsset {
  readonly content_type: string;
  readonly etag: string;
  readonly identity?: string;
  readonly br?: string;
  readonly gzip?: string;
}

export type EmbeddedAssets = Readonly<Record<string, EmbeddedAsset>>;

// Preferred ones first.
const encodings = ["br", "gzip", "identity"] as const;
type Encoding = (typeof encodings)[number];

export interface Asset {
  readonly contentType: string;
  readonly etag: string;
  readonly bytes: Partial<Record<Encoding, Buffer>>;
}

export interface AssetStore {
  (name: string): Promise<Asset>;
  has(name: string): Promise<boolean>;
}

/** Returns a store that calls `load` once, at the first request. */
export function createAssetStore(load: () => Promise<EmbeddedAssets> = embeddedAssets): AssetStore {
  let files: Promise<EmbeddedAssets> | undefined;
  const decoded = new Map<string, Asset>();
  const all = () => {
    files ??= load();
    return files;
  };
  const store = async (name: string) => {
    const asset = decoded.get(name) ?? decode((await all())[name], name);
    decoded.set(name, asset);
    return asset;
  };
  return Object.assign(store, { has: async (name: string) => Object.hasOwn(await all(), name) });
}

async function embeddedAssets(): Promise<EmbeddedAssets> {
  try {
    const { default: files } = await import("../../../dist/ui/assets.json", {
      with: { type: "json" },
    });
    return files as EmbeddedAssets;
  } catch (cause) {
    throw new WorkerError("configuration", NOT_BUILT, { cause });
  }
}

const NOT_BUILT = 'the page has not been built; run "node build.mjs ui assets"';

function decode(file: EmbeddedAsset | undefined, name: string): Asset {
  if (file === undefined) throw new WorkerError("configuration", `${name}: ${NOT_BUILT}`);
  const bytes: Asset["bytes"] = {};
  for (const encoding of encodings) {
    const text = file[encoding];
    if (text !== undefined) bytes[encoding] = Buffer.from(text, "base64");
  }
  if (bytes.gzip !== undefined) bytes.identity ??= gunzipSync(bytes.gzip);
  return { contentType: file.content_type, etag: file.etag.replace(/^W\//, ""), bytes };
}

/** Returns the response to a GET or HEAD for the asset. */
export function assetResponse(request: HttpRequest, asset: Asset): HttpResponse {
  const offered = encodings.filter((encoding) => asset.bytes[encoding] !== undefined);
  const encoding = selectEncoding(header(request, "accept-encoding"), offered);
  const etag = encoding === "identity" ? asset.etag : asset.etag.replace(/"$/, `-${encoding}"`);
  const headers: Record<string, string> = { etag, vary: "accept-encoding" };
  if (matchesEtag(header(request, "if-none-match"), etag))
    return { status: 304, headers, body: null };
  headers["content-type"] = asset.contentType;
  if (encoding !== "identity") headers["content-encoding"] = encoding;
  return { status: 200, headers, body: asset.bytes[encoding] ?? null };
}

/**
 * Returns the encoding with the greatest weight in Accept-Encoding; if weights are equal, the first in `offered`. If no
 * encoding is acceptable, returns `identity`.
 */
export function selectEncoding(
  accepted: string | undefined,
  offered: readonly Encoding[],
): Encoding {
  const weights = new Map<string, number>();
  for (const part of (accepted ?? "").toLowerCase().split(",", MAX_CODINGS)) {
    const [name = "", ...parameters] = part.split(";", MAX_CODINGS).map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = Number(q ?? 1);
    if (name !== "") weights.set(name, Number.isNaN(weight) ? 0 : weight);
  }
  const weightOf = (encoding: Encoding) => {
    // Even if `identity` is not listed, it is acceptable, but least preferred.
    const fallback = encoding === "identity" ? Number.MIN_VALUE : 0;
    return weights.get(encoding) ?? weights.get("*") ?? fallback;
  };
  let best: Encoding = "identity";
  for (const encoding of [...offered].reverse()) {
    if (weightOf(encoding) > 0 && weightOf(encoding) >= weightOf(best)) best = encoding;
  }
  return best;
}

/** If-None-Match uses the weak comparison, which ignores `W/` (RFC 9110, 13.1.2). */
function matchesEtag(list: string | undefined, etag: string): boolean {
  if (list === undefined) return false;
  if (list.trim() === "*") return true;
  return list.split(",").some((entry) => entry.trim().replace(/^W\//, "") === etag);
}
