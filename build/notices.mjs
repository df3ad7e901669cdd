// Writes the licence notices of all third-party software in the executable and the page: npm packages, Node and
// PostgreSQL. The output is dist/THIRD_PARTY_NOTICES, and a compressed copy for `worker licenses`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";
import { dist, fail, place, root } from "./files.mjs";

/** The packages in the page's client. Of assemblyscript, the client contains only the standard library. */
export const CLIENT = [
  "assemblyscript",
  "@fontsource-variable/inter",
  "@fontsource-variable/jetbrains-mono",
];
const LINE = `\n${"=".repeat(80)}\n`;

export async function notices() {
  const text = [
    "Third-party software in worker, with the licences under which it is distributed.",
    ...packages().map(packageNotice),
    `Node.js ${process.version.slice(1)}\n\n${licenceIn(nodePackage())}`,
    readFileSync(join(import.meta.dirname, "postgresql-notices.txt"), "utf8").trim(),
  ].join(LINE);
  await place(join(dist, "THIRD_PARTY_NOTICES"), `${text}\n`);
  const packed = zlib.brotliCompressSync(`${text}\n`).toString("base64");
  await place(join(dist, "third-party-notices.json"), JSON.stringify(packed));
}

const nodePackage = () => join(root, `node_modules/node-linux-${process.arch}`);

/** Returns the manifests of all npm packages, each with its directory, sorted. */
function packages() {
  const found = new Map();
  const visit = (name, from) => {
    const directory = directoryOf(name, from);
    if (directory === null || found.has(directory)) return;
    const manifest = manifestIn(directory);
    found.set(directory, { ...manifest, directory });
    if (CLIENT.includes(name)) return;
    for (const one of Object.keys(manifest.dependencies ?? {})) visit(one, directory);
  };
  const { dependencies } = manifestIn(root);
  for (const name of [...Object.keys(dependencies), ...CLIENT]) visit(name, root);
  const distinct = new Map([...found.values()].map((one) => [`${one.name} ${one.version}`, one]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

export const manifestIn = (directory) =>
  JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));

/** Returns the directory of the package that Node finds under `name` from the directory `from`; null: there is none. */
export function directoryOf(name, from) {
  for (let at = from; at.startsWith(root); at = join(at, "..")) {
    const directory = join(at, "node_modules", name);
    if (existsSync(join(directory, "package.json"))) return directory;
  }
  return null;
}

function packageNotice({ name, version, license, homepage, author, directory }) {
  const by = typeof author === "string" ? author : author?.name;
  const head = [`${name} ${version} (${license})`, homepage, by && `By ${by}`];
  const text = licenceIn(directory) ?? readme(directory);
  if (text === null && license === undefined) fail(`${name} has no licence information.`);
  const more = textIn(directory, /^notice([.-]|$)/i) ?? [];
  return [...head.filter(Boolean), "", text ?? `Licence: ${license}`].concat(more).join("\n");
}

const licenceIn = (directory) => textIn(directory, /^(licen[cs]e|copying)([.-]|$)/i);

function textIn(directory, names) {
  const file = readdirSync(directory).find((name) => names.test(name));
  return file === undefined ? null : readFileSync(join(directory, file), "utf8").trim();
}

/** Returns the licence section of the README, or null. Some packages have no other licence text. */
function readme(directory) {
  const file = readdirSync(directory).find((name) => /^readme/i.test(name));
  const text = file === undefined ? "" : readFileSync(join(directory, file), "utf8");
  return /^#+ licen[cs]e\s*\n([\s\S]*?)(?=^#|$(?![\s\S]))/im.exec(text)?.[1]?.trim() || null;
}
