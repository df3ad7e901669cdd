// What is inside an executable, as CycloneDX (JSON, 1.6): the packages of which the bundle has code, what
// the client is made of, Node and PostgreSQL with their libraries; each with licence, version and hash.
// Without a time and with a serial number made of the content: same executable, same list.
import { join } from "node:path";
import { root, sha256 } from "../files.mjs";
import { CLIENT, directoryOf, manifestIn } from "../notices.mjs";
import { lockedAt, packageDirectory } from "./packages.mjs";
import { nodeParts, postgresParts } from "./parts.mjs";
import { NODE_VERSION } from "./targets.mjs";

/** `inputs`: the files of which something is in the command; `bytes`: the executable. */
export async function billOfMaterials(target, inputs, bytes) {
  const { version, license } = manifestIn(root);
  const ref = "worker";
  const packages = packagesOf(inputs);
  const postgres = target.postgresPackage === null ? [] : [await postgresComponent(target)];
  const bases = [nodeComponent(target), ...postgres];
  const client = CLIENT.map((name) => directoryOf(name, root)).map(packageComponent);
  const direct = Object.keys(manifestIn(root).dependencies).map((name) => directoryOf(name, root));
  const below = (directories) => refs(directories.filter((one) => packages.includes(one)));
  const content = {
    metadata: {
      component: {
        "bom-ref": ref,
        type: "application",
        name: "worker",
        version,
        ...licences(license),
        hashes: [{ alg: "SHA-256", content: sha256(bytes, "hex") }],
        properties: [{ name: "worker:file", value: target.file }],
      },
    },
    components: [...distinct(packages.map(packageComponent)), ...client, ...bases],
    dependencies: [
      { ref, dependsOn: [...below(direct), ...[...client, ...bases].map((one) => one["bom-ref"])] },
      ...distinct(
        packages.map((directory) => ({
          ref: purlOf(directory),
          dependsOn: below(dependenciesOf(directory)),
        })),
      ),
    ],
  };
  const digest = sha256(JSON.stringify(content), "hex");
  const uuid = digest.replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    "$1-$2-8$3-8$4-$5", // version 8: of a making of one's own
  );
  const head = { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: `urn:uuid:${uuid}` };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    ...head,
    version: 1,
    ...content,
  };
}

/** The directories of the packages that have a file among `inputs`. */
function packagesOf(inputs) {
  const found = inputs.flatMap((path) => {
    const [directory] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? [];
    return directory === undefined ? [] : [join(root, directory)];
  });
  return [...new Set(found)].sort();
}

function packageComponent(directory) {
  const { name, version, license } = manifestIn(directory);
  const { integrity } = lockedAt(directory.slice(root.length + 1));
  const [group, own] = name.startsWith("@") ? name.split("/") : [undefined, name];
  return {
    "bom-ref": purlOf(directory),
    type: "library",
    ...(group && { group }),
    name: own,
    version,
    ...licences(license),
    purl: purlOf(directory),
    hashes: [sha512(integrity)],
  };
}

function nodeComponent({ name: target, sha256: content }) {
  const ref = `node-${target}`;
  return {
    "bom-ref": ref,
    type: "platform",
    name: "node",
    version: NODE_VERSION,
    ...licences("MIT"),
    purl: `pkg:generic/node@${NODE_VERSION}`,
    hashes: [{ alg: "SHA-256", content }],
    pedigree: {
      notes: "The hash is that of the delivered file; node-base.mjs says what is changed.",
    },
    components: nodeParts().map(([name, version, licence]) => part(ref, name, version, licence)),
  };
}

async function postgresComponent({ postgresPackage }) {
  const directory = await packageDirectory(postgresPackage);
  const { version } = manifestIn(directory);
  const own = version.split("-")[0].split(".").slice(0, 2).join(".");
  const ref = `postgresql-${postgresPackage.split("/")[1]}`;
  return {
    "bom-ref": ref,
    type: "application",
    name: "postgresql",
    version: own,
    description: "what `worker demo` starts; nothing else uses it",
    ...licences("PostgreSQL"),
    purl: `pkg:generic/postgresql@${own}`,
    hashes: [sha512(lockedAt(`node_modules/${postgresPackage}`).integrity)],
    externalReferences: [
      {
        type: "distribution",
        url: `https://www.npmjs.com/package/${postgresPackage}/v/${version}`,
      },
    ],
    components: postgresParts(join(directory, "native/lib")).map((one) => ({
      ...part(ref, one.name, one.version, one.licence),
      components: one.files.map(([name, content]) => ({
        type: "file",
        name,
        hashes: [{ alg: "SHA-256", content }],
      })),
    })),
  };
}

function part(parent, name, version, licence) {
  return {
    "bom-ref": `${parent}/${name}`,
    type: "library",
    name,
    version,
    ...licences(licence),
    purl: `pkg:generic/${name}@${encodeURIComponent(version)}`,
  };
}

/** What SPDX has no name for is named as it is. */
function licences(text) {
  if (text === "public-domain") return { licenses: [{ license: { name: "Public domain" } }] };
  if (/\s/.test(text)) return { licenses: [{ expression: text }] };
  return { licenses: [{ license: { id: text } }] };
}

function purlOf(directory) {
  const { name, version } = manifestIn(directory);
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

const dependenciesOf = (directory) =>
  Object.keys(manifestIn(directory).dependencies ?? {}).map((name) => directoryOf(name, directory));

const refs = (directories) => [...new Set(directories.map(purlOf))].sort();

/** A package may be there twice in one version. */
function distinct(list) {
  const byRef = new Map(list.map((one) => [one["bom-ref"] ?? one.ref, one]));
  return [...byRef.values()];
}

const sha512 = (integrity) => ({
  alg: "SHA-512",
  content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex"),
});
