// Lists the libraries in Node and in PostgreSQL, with licences and versions, because no package manager lists them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fail, sha256 } from "../files.mjs";

const NODE_PARTS = {
  acorn: "MIT",
  ada: "MIT OR Apache-2.0",
  amaro: "MIT",
  ares: "MIT",
  brotli: "MIT",
  cldr: "Unicode-3.0",
  icu: "Unicode-3.0",
  llhttp: "MIT",
  merve: "MIT",
  nbytes: "MIT",
  ncrypto: "MIT",
  nghttp2: "MIT",
  openssl: "Apache-2.0",
  simdjson: "Apache-2.0",
  simdutf: "MIT OR Apache-2.0",
  sqlite: "blessing",
  tz: "public-domain",
  undici: "MIT",
  unicode: "Unicode-3.0",
  uv: "MIT",
  uvwasi: "MIT",
  v8: "BSD-3-Clause",
  zlib: "Zlib",
  zstd: "BSD-3-Clause",
};
const NO_PARTS = ["node", "modules", "napi"];
/** The usual names of libraries that have another name in Node's list. */
const OWN_NAMES = { ares: "c-ares", uv: "libuv", tz: "tzdata" };

/** Returns `[name, version, licence]` for each library in the Node that runs this build. */
export function nodeParts() {
  const parts = Object.entries(process.versions).filter(
    ([name, version]) => version !== "" && !NO_PARTS.includes(name),
  );
  return parts.map(([name, version]) => {
    const licence =
      NODE_PARTS[name] ?? fail(`build/executable/parts.mjs has no entry for ${name}.`);
    return [OWN_NAMES[name] ?? name, version, licence];
  });
}

/**
 * PostgreSQL's libraries: the name, the licence, a pattern for file names, and a pattern that finds the version in a
 * file's name or content.
 */
const LIBRARIES = [
  ["openssl", "OpenSSL", /^lib(?:crypto|ssl)\.so/, /OpenSSL (1\.\d\.\d\w*) /],
  ["icu", "ICU", /^libicu\w+\.so/, /^libicu\w+\.so\.([\d.]+)/],
  ["xz", "public-domain", /^liblzma\.so/, /\0(5\.\d+\.\d+)\0/],
  ["ossp-uuid", "ISC", /^libossp-uuid\.so/, /OSSP uuid (\d+\.\d+\.\d+)/],
  ["libxml2", "MIT", /^libxml2\.so/, /(?<!\d)(2\d{4})\0/],
  ["libxslt", "MIT", /^libxslt\.so/, /(?<!\d)(1\d{4})\0/],
  ["zlib", "Zlib", /^libz\.so/, /deflate (\d+\.\d+\.\d+)/],
];
/** Libraries of PostgreSQL itself, which are not listed. */
const OWN_FILES = /^lib(pq|ecpg|ecpg_compat|pgtypes)\.so/;

/** Returns `{ name, licence, version, files: [[name, sha256], …] }` for each library in the directory `lib`. */
export function postgresParts(lib) {
  const parts = new Map();
  for (const entry of readdirSync(lib, { withFileTypes: true })) {
    if (!entry.isFile() || !/\.so(\.|$)/.test(entry.name) || OWN_FILES.test(entry.name)) continue;
    const bytes = readFileSync(join(lib, entry.name));
    const [name, licence, , versionPattern] =
      LIBRARIES.find(([, , files]) => files.test(entry.name)) ??
      fail(`build/executable/parts.mjs has no entry for ${entry.name}.`);
    const part = parts.get(name) ?? { name, licence, version: null, files: [] };
    part.version ??= versionIn(`${entry.name}\0${bytes.toString("latin1")}`, versionPattern);
    part.files.push([entry.name, sha256(bytes, "hex")]);
    parts.set(name, part);
  }
  const unversioned = [...parts.values()].find(({ version }) => version === null);
  if (unversioned !== undefined)
    fail(`No pattern of build/executable/parts.mjs finds the version of ${unversioned.name}.`);
  return [...parts.values()];
}

/** Returns a version such as 20904 as 2.9.4. */
function versionIn(text, pattern) {
  const found = pattern.exec(text)?.[1] ?? null;
  const [, ...numbers] = /^(\d)(\d\d)(\d\d)$/.exec(found) ?? [];
  return numbers.length > 0 ? numbers.map(Number).join(".") : found;
}
