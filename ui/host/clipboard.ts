/**
 * Copies a text in which hidden characters are replaced with codes. If the clipboard API fails or is missing (plain
 * HTTP), copies the text from a temporary field. Resolves to false if that fails, too.
 */
export async function copyText(given: string): Promise<boolean> {
  const text = withCodes(given);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/**
 * Matches control characters, format characters and separators of lines or paragraphs, except \n and tabs. A terminal
 * may execute a pasted control character.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces hidden characters with JSON escapes, such as `\u200b`. */
function withCodes(text: string): string {
  const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(HIDDEN, (character) => character.split("").map(code).join(""));
}

function copySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  // While a modal dialog is open, only what is in the dialog can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
