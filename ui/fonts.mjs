/**
 * The two fonts of the page, reduced to Latin letters and some signs: Inter for words, JetBrains Mono for code.
 * Characters of other scripts are shown in the system's fonts. Both fonts are under the SIL Open Font License, which is
 * shipped with them (licences.txt).
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import subsetFont from "subset-font";

const require = createRequire(import.meta.url);
const fonts = [
  { name: "sans", family: "Inter UI", package: "inter", weights: [400, 650] },
  { name: "mono", family: "Mono UI", package: "jetbrains-mono", weights: [400, 600] },
];

const range = (first, last) =>
  String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, i) => first + i));
const LATIN = `${range(0x20, 0x7e)}${range(0xa0, 0xff)}`;
const SIGNS = "–—‘’“”•…‹›←↑→↓↵⌘⇧−≈≤≥";

/** Returns the font files, the style sheet that loads them, and the licences. A file's name has a hash of its bytes. */
export async function buildFonts() {
  const built = await Promise.all(fonts.map(buildFont));
  const css = built.map(({ rule }) => rule).join("\n");
  const licences = built.map(({ licence }) => licence).join("\n\n");
  return { files: built.map(({ file, bytes }) => [file, bytes]), css, licences };
}

async function buildFont({ name, family, package: source, weights: [min, max] }) {
  const folder = dirname(require.resolve(`@fontsource-variable/${source}/package.json`));
  const whole = await readFile(join(folder, `files/${source}-latin-wght-normal.woff2`));
  const bytes = await subsetFont(whole, LATIN + SIGNS, {
    targetFormat: "woff2",
    variationAxes: { wght: { min, max } },
  });
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const file = `${name}-${hash}.woff2`;
  const rule = `@font-face{font-family:"${family}";src:url("fonts/${file}") format("woff2");font-weight:${min} ${max};font-display:swap}`;
  const licence = `${family}\n\n${await readFile(join(folder, "LICENSE"), "utf8")}`;
  return { file, bytes, rule, licence };
}
