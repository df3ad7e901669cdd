/**
 * Packs the string literals of a module. AssemblyScript writes each as it stands in memory: a head of
 * twenty bytes, then two bytes a letter. Here they become a length and UTF-8, which
 * assembly/literals.ts unpacks when the module starts; what is not a string stays as it is.
 */

const PAGE = 65536;
/** Before a string stand the size of its block, two links, its type and its own size. */
export const HEAD = 20;
const STRING = 2;
/** A number has 14 bits; of a length, one of them says what it is the length of. */
const MOST = 0x3fff;
const LONGEST = MOST >> 1;
/** Fewer zeros than these are not worth a step. */
const GAP = 4;

/** Puts the packed data of a module in the place of its own, at the end of the memory that it begins with. */
export function packLiterals(module) {
  const packed = pack(imageOf(module));
  const size = new Uint8Array(Uint32Array.of(packed.length).buffer);
  const data = Uint8Array.from([...packed, ...size]);
  const pages = module.getMemoryInfo().initial + Math.ceil(data.length / PAGE);
  setData(module, pages, pages * PAGE - data.length, data);
}

/** The memory as a module's own data fill it. */
export function imageOf(module) {
  const segments = Array.from({ length: module.getNumDataSegments() }, (_, index) => {
    const { offset, data } = module.getDataSegmentInfo(module.getDataSegmentByIndex(index));
    return { at: offset, data: new Uint8Array(data) };
  });
  const end = Math.max(...segments.map(({ at, data }) => at + data.length));
  // Of the last string, zeros at its end may have been left out.
  const image = new Uint8Array(end + 16);
  for (const { at, data } of segments) image.set(data, at);
  return image;
}

export function setImage(module, image) {
  setData(module, module.getMemoryInfo().initial, 0, image);
}

function setData(module, pages, at, data) {
  // The memory keeps its name, by which it is exported.
  module.setMemory(pages, -1, null, [{ offset: module.i32.const(at), data }], false, false, "0");
}

/** The steps of `unpack` that write an image. */
function pack(image) {
  const out = [];
  let done = 0;
  const number = (n) => out.push(...(n < 0x80 ? [n] : [0x80 | (n & 0x7f), n >> 7]));
  const bytes = (from, to) => {
    const gap = Math.min(from - done, MOST);
    const start = done + gap;
    const end = start < from ? start : Math.min(to, start + LONGEST);
    number((end - start) * 2);
    number(gap);
    out.push(...image.subarray(start, end));
    done = end;
    if (done < to) bytes(Math.max(done, from), to);
  };
  const plain = (end) => {
    for (const [from, to] of written(image, done, end)) bytes(from, to);
  };
  for (const { at, units } of strings(image)) {
    plain(at - HEAD);
    // A string goes into the next block.
    if (((done + HEAD + 15) & ~15) !== at) bytes(at - HEAD, at - HEAD);
    number(units.length * 2 + 1);
    for (const unit of units) out.push(...utf8(unit));
    done = at + units.length * 2;
  }
  plain(image.length);
  return out;
}

/** The strings of an image, which are known by their heads. */
function* strings(image) {
  const view = new DataView(image.buffer);
  const word = (at) => view.getUint32(at, true);
  for (let at = 32; at < image.length; at += 16) {
    const size = word(at - 4);
    const block = ((HEAD + size + 15) & ~15) - 4;
    const isString = word(at - 8) === STRING && word(at - 12) === 0 && word(at - 16) === 0;
    if (!isString || word(at - 20) !== block || size % 2 !== 0 || size > LONGEST * 2) continue;
    const units = Uint16Array.from({ length: size / 2 }, (_, i) =>
      view.getUint16(at + i * 2, true),
    );
    yield { at, units };
    at += size & ~15;
  }
}

/** The stretches between `start` and `end` that are not zero. */
function* written(image, start, end) {
  for (let from = start; from < end; from++) {
    if (image[from] === 0) continue;
    let to = from + 1;
    for (let at = to; at < end && at - to < GAP; at++) if (image[at] !== 0) to = at + 1;
    yield [from, to];
    from = to;
  }
}

/** One UTF-16 unit by itself: half of a pair is three bytes. */
function utf8(unit) {
  if (unit < 0x80) return [unit];
  const last = 0x80 | (unit & 0x3f);
  if (unit < 0x800) return [0xc0 | (unit >> 6), last];
  return [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), last];
}
