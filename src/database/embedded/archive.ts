// The file inside the native executable that contains the PostgreSQL server:
//
//   length of the index (4 bytes, little endian) · index (JSON) · the files, concatenated and then compressed by zstd
//
// The index can be read without unpacking the files. So if the files are installed already, a start only compares their
// sizes with those in the index. Equal files are packed into equal bytes, so the executable is reproducible.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { WorkerError } from "../../base/errors.ts";
import type { ServerFile } from "./server-files.ts";

interface Index {
  readonly version: string;
  /** SHA-256 of the compressed part. */
  readonly sha256: string;
  /** The path, mode and size of each file. */
  readonly files: readonly (readonly [string, number, number])[];
}

export interface Archive {
  /** A name that is different for different content. */
  readonly name: string;
  readonly files: readonly ServerFile[];
}

const zstdCompress = promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress);

const LENGTH_BYTES = 4;
const COMPRESSION_LEVEL = 19;
const MAX_CONTENT_BYTES = 512 * 1024 * 1024;

/** Packs `files` in the given order, for the build. The compression takes seconds, and runs on another thread. */
export async function packArchive(version: string, files: readonly ServerFile[]): Promise<Buffer> {
  const body = await zstdCompress(Buffer.concat(files.map((file) => file.read())), {
    params: { [zlib.constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL },
  });
  const index: Index = {
    version,
    sha256: createHash("sha256").update(body).digest("hex"),
    files: files.map((file) => [file.path, file.mode, file.size]),
  };
  const head = Buffer.from(JSON.stringify(index));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, body]);
}

/** Reads the index. The content is checked and unpacked when the first file is read. */
export function openArchive(bytes: Buffer): Archive {
  const start = LENGTH_BYTES + bytes.readUInt32LE(0);
  const index = JSON.parse(bytes.toString("utf8", LENGTH_BYTES, start)) as Index;
  let content: Buffer | null = null;
  const unpacked = () => {
    content ??= unpack(bytes.subarray(start), index.sha256);
    return content;
  };
  let offset = 0;
  const files = index.files.map(([path, mode, size]) => {
    const from = offset;
    offset += size;
    return { path, mode, size, read: () => unpacked().subarray(from, from + size) };
  });
  return { name: `postgresql-${index.version}-${index.sha256.slice(0, 16)}`, files };
}

function unpack(body: Buffer, sha256: string): Buffer {
  if (createHash("sha256").update(body).digest("hex") !== sha256) {
    throw new WorkerError(
      "embedded_server",
      "the PostgreSQL files inside this program are damaged; install the program again",
    );
  }
  return zlib.zstdDecompressSync(body, { maxOutputLength: MAX_CONTENT_BYTES });
}
