/**
 * Unpacks the module's static data, which ui/literals.mjs has packed to make the module smaller. All other code needs
 * the data, so this file must be the first import of index.ts. The end of the memory has the texts of the strings in a
 * form of UTF-8, then the steps that restore the objects, and then the sizes of both.
 */

/**
 * The size of an object's head in bytes. Its fields: the block's size, two links, the type and the content's size
 * (std/assembly/rt/common.ts of AssemblyScript).
 */
const HEAD: usize = 20;
const STRING: u32 = 2;
/** The type of a step that leaves a gap of zeros and then copies bytes from the packed data. */
const PLAIN: u32 = 0;
const SIZES: usize = 8;

const end: usize = ((<usize>memory.size()) << 16) - SIZES;
const start: usize = end - load<u32>(end) - load<u32>(end + 4);
let text: usize = start;
let step: usize = end - load<u32>(end + 4);
unpack();

function unpack(): void {
  let to: usize = 0;
  while (step < end) {
    const type = number();
    let length: usize = number();
    if (type === STRING) {
      while (length-- > 0) to = string(to);
      continue;
    }
    if (type === PLAIN) {
      to += length;
      length = number();
    } else to = object(to, type, length);
    memory.copy(to, step, length);
    to += length;
    step += length;
  }
  memory.fill(start, 0, end + SIZES - start);
}

/** Writes the head of an object after `from`. Returns where the object's content begins. */
function object(from: usize, type: u32, size: usize): usize {
  // The content of each object begins at a multiple of 16.
  const at = (from + HEAD + 15) & ~15;
  store<u32>(at - 20, ((HEAD + size + 15) & ~15) - 4);
  store<u32>(at - 8, type);
  store<u32>(at - 4, <u32>size);
  return at;
}

/** Writes the next packed text as a string object. Returns where the object ends. */
function string(from: usize): usize {
  const at = object(from, STRING, 0);
  let to = at;
  for (;;) {
    let unit: u32 = load<u8>(text++);
    if (unit === 0) break;
    if (unit >= 0xe0) unit = (unit << 12) | (rest() << 6) | rest();
    else if (unit >= 0x80) unit = ((unit & 31) << 6) | rest();
    store<u16>(to, unit);
    to += 2;
  }
  object(from, STRING, to - at);
  return to;
}

function rest(): u32 {
  return load<u8>(text++) & 63;
}

/** Reads the next number from the steps. A number below 128 takes one byte, a larger number takes two. */
function number(): u32 {
  const low: u32 = load<u8>(step++);
  return low < 0x80 ? low : low + ((<u32>load<u8>(step++) - 1) << 7);
}
