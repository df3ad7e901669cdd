// Lists the components of an executable in the format CycloneDX (JSON, 1.5). The list has no time and no random serial
// number, so the same executable always has the same list.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root, sha256 } from "../files.mjs";
import { CLIENT, manifestIn } from "../notices.mjs";
import { lockedAt, packageDirectory } from "./packages.mjs";
import { nodeParts, postgresParts } from "./parts.mjs";
import { NODE_VERSION } from "./targets.mjs";

const MAX_BYTES = 64e6;

/** Returns the component list. `inputs`: the paths of the bundled files. `bytes`: the executable's content. */
export async function billOfMaterials(target, inputs, bytes) {
  const { $schema, bomFormat, specVersion, metadata, components, dependencies } = npmList();
  const inside = new Set([...inputs.flatMap(packageOf), ...CLIENT].map(refIn));
  const packages = components.filter((one) => inside.has(one["bom-ref"]));
  const others = await unknownToNpm(target);
  const refs = new Set([...packages, ...others].map((one) => one["bom-ref"]));
  const own = metadata.component["bom-ref"];
  const direct = [...CLIENT.map(refIn), ...others.map((one) => one["bom-ref"])];
  return {
    ...{ $schema, bomFormat, specVersion, version: 1 },
    metadata: {
      component: {
        ...metadata.component,
        ...{ type: "application", name: "worker" },
        hashes: [{ alg: "SHA-256", content: sha256(bytes, "hex") }],
        properties: [{ name: "worker:file", value: target.file }],
      },
    },
    components: [...packages, ...others],
    dependencies: dependencies
      .filter(({ ref }) => ref === own || refs.has(ref))
      .map(({ ref, dependsOn }) => {
        const all = ref === own ? [...dependsOn, ...direct] : dependsOn;
        return { ref, dependsOn: [...new Set(all.filter((one) => refs.has(one)))] };
      }),
  };
}

/** The option `--omit dev` would also omit pg, because a development package needs pg, too. */
function npmList() {
  const words = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  return JSON.parse(execFileSync("npm", words, { cwd: root, maxBuffer: MAX_BYTES }));
}

/** Returns a list with the innermost package directory of the file; an empty list for a file of this project. */
const packageOf = (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [];

/** Returns the reference in npm's list. `given`: the package's directory, or its name in node_modules. */
function refIn(given) {
  const directory = given.includes("node_modules/") ? given : join("node_modules", given);
  const { name, version } = manifestIn(join(root, directory));
  return `${name}@${version}`;
}

async function unknownToNpm({ name, sha256: nodeHash, postgresPackage }) {
  const node = {
    ...component("node", NODE_VERSION, "MIT", `node-${name}`),
    type: "platform",
    hashes: [{ alg: "SHA-256", content: nodeHash }],
    components: nodeParts().map((part) => component(...part, `node-${name}/${part[0]}`)),
  };
  if (postgresPackage === null) return [node];
  const directory = await packageDirectory(postgresPackage);
  const { integrity, version } = lockedAt(`node_modules/${postgresPackage}`);
  const ref = `postgresql-${name}`;
  const [release = ""] = /^\d+\.\d+/.exec(version) ?? [];
  const postgres = {
    ...component("postgresql", release, "PostgreSQL", ref),
    type: "application",
    description: `what \`worker demo\` starts; from the package ${postgresPackage} ${version}`,
    hashes: [sha512(integrity)],
    components: postgresParts(join(directory, "native/lib")).map((part) => ({
      ...component(part.name, part.version, part.licence, `${ref}/${part.name}`),
      components: part.files.map(([file, content]) => ({
        ...{ type: "file", name: file },
        hashes: [{ alg: "SHA-256", content }],
      })),
    })),
  };
  return [node, postgres];
}

function component(name, version, licence, ref) {
  const purl = `pkg:generic/${name}@${encodeURIComponent(version)}`;
  return { "bom-ref": ref, type: "library", name, version, ...licences(licence), purl };
}

/** SPDX has no id for the public domain. */
function licences(text) {
  if (text === "public-domain") return { licenses: [{ license: { name: "Public domain" } }] };
  if (/\s/.test(text)) return { licenses: [{ expression: text }] };
  return { licenses: [{ license: { id: text } }] };
}

const sha512 = (integrity) => ({
  alg: "SHA-512",
  content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex"),
});
