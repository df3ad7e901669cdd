// A reporter for `node --test`. It writes a line "milliseconds<tab>file" for each test file that has ended.
export default async function* durations(events) {
  for await (const { type, data } of events) {
    const isFile = type === "test:complete" && data.nesting === 0 && data.file?.endsWith(data.name);
    if (isFile) yield `${Math.round(data.details.duration_ms)}\t${data.name}\n`;
  }
}
