/**
 * Packs the static data of a WebAssembly module, so that the module is smaller. The packed data are the texts of all
 * strings in a form of UTF-8, the steps by which assembly/literals.ts restores the memory, and the sizes of the texts
 * and of the steps.
 */

const PAGE = 65536;
/** The size of an object's head in bytes. Its fields: the block's size, two links, the type, the content's size. */
const HEAD = 20;
const STRING = 2;
/** The type of a step that leaves a gap of zeros and then copies bytes from the packed data. */
const PLAIN = 0;
/** The largest number in a step: 14 bits. */
const MAX_NUMBER = 0x3fff;

/** Replaces the data of a module by the packed data, which are added at the end of the initial memory. */
export function packLiterals(module) {
  const { texts, steps } = pack(imageOf(module));
  const sizes = new Uint8Array(Uint32Array.of(texts.length, steps.length).buffer);
  const data = Uint8Array.from([...texts, ...steps, ...sizes]);
  const pages = module.getMemoryInfo().initial + Math.ceil(data.length / PAGE);
  const segment = { offset: module.i32.const(pages * PAGE - data.length), data };
  // The memory keeps its name, by which it is exported.
  module.setMemory(pages, -1, null, [segment], false, false, "0");
}

/** Returns the memory as it is before the module starts. */
function imageOf(module) {
  const segments = Array.from({ length: module.getNumDataSegments() }, (_, index) => {
    const { offset, data } = module.getDataSegmentInfo(module.getDataSegmentByIndex(index));
    return { at: offset, data: new Uint8Array(data) };
  });
  const end = Math.max(...segments.map(({ at, data }) => at + data.length));
  // The last segment may lack the zeros at the end of the last string.
  const image = new Uint8Array(end + 16);
  for (const { at, data } of segments) image.set(data, at);
  return image;
}

/** Returns the texts of an image's strings, each ended by a zero, and the steps that restore the image. */
function pack(image) {
  const texts = [];
  const steps = [];
  let done = 0;
  /** The number of strings since the last step. */
  let run = 0;
  const number = (n) => steps.push(...(n < 0x80 ? [n] : [0x80 | (n & 0x7f), n >> 7]));
  const endRun = () => {
    for (; run > 0; run -= Math.min(run, MAX_NUMBER)) {
      number(STRING);
      number(Math.min(run, MAX_NUMBER));
    }
  };
  /** Adds steps for the bytes from `done` to `end`. */
  const plain = (end) => {
    endRun();
    while (done < end) {
      let from = done;
      while (from < end && from - done < MAX_NUMBER && image[from] === 0) from++;
      let to = from;
      for (let at = from; at < end && at - from < MAX_NUMBER; at++)
        if (image[at] !== 0) to = at + 1;
      number(PLAIN);
      number(from - done);
      number(to - from);
      steps.push(...image.subarray(from, to));
      done = to;
    }
  };
  for (const { at, type, content } of objects(image)) {
    // If the object is not in the next block, a step for the bytes before the object comes first.
    if (nextBlock(done) !== at) plain(at - HEAD);
    if (type === STRING) {
      for (const unit of new Uint16Array(content.slice().buffer)) texts.push(...utf8(unit));
      texts.push(0);
      run++;
    } else {
      endRun();
      number(type);
      number(content.length);
      steps.push(...content);
    }
    done = at + content.length;
  }
  plain(image.findLastIndex((byte) => byte !== 0) + 1);
  return { texts, steps };
}

/** Returns where the content of the next object begins: after its head, at a multiple of 16. */
const nextBlock = (done) => (done + HEAD + 15) & ~15;

/** Finds the objects of an image by their heads. */
function* objects(image) {
  const view = new DataView(image.buffer);
  const word = (at) => view.getUint32(at, true);
  for (let at = 32; at < image.length; at += 16) {
    const type = word(at - 8);
    const size = word(at - 4);
    const isObject = word(at - 20) === nextBlock(size) - 4 && word(at - 16) + word(at - 12) === 0;
    if (!isObject || type === PLAIN || Math.max(type, size) > MAX_NUMBER) continue;
    yield { at, type, content: image.subarray(at, at + size) };
    at = nextBlock(at + size) - 16;
  }
}

/** Encodes one UTF-16 unit. The unit zero takes two bytes, because a zero byte ends a text. */
function utf8(unit) {
  if (unit > 0 && unit < 0x80) return [unit];
  const last = 0x80 | (unit & 0x3f);
  if (unit < 0x800) return [0xc0 | (unit >> 6), last];
  return [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), last];
}
