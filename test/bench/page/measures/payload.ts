// Opens two payloads on the pages of their jobs. One has 50 MB, and the page shows its beginning as text. The other has
// 15 MB, and the page shows it as a tree. Measures the time from the click until the text or tree is shown, and the
// longest task, during which the page does not respond.
import { atMost, type Line } from "../../admin/measure.ts";
import { isThere, openPage, type PageBench, type PageMeasure, type Watched } from "../bench.ts";

const MB = 2 ** 20;

export const payload: PageMeasure = {
  name: "payload",
  run: async (bench) => [
    ...(await opened(bench, 50, ".raw")),
    ...(await opened(bench, 15, ".tree li")),
  ],
};

async function opened(bench: PageBench, mb: number, shows: string): Promise<readonly Line[]> {
  // Text that does not repeat, so that PostgreSQL cannot compress it much.
  const { rows } = await bench.db.query(
    `select (worker.add_job('bench_payload', (
       select json_agg(json_build_object('n', n, 'text', md5(n::text) || md5((-n)::text)))
       from generate_series(1, ${Math.floor((mb * MB) / 94)}) as n))).id::text as id`,
  );
  const browser = await bench.launch();
  try {
    const page = await openPage(browser, bench.url, `/jobs/${rows[0].id}`);
    await isThere(page);
    const button = page.getByRole("button", { name: "Load payload" });
    await button.waitFor();
    await page.evaluate(() => {
      (globalThis as unknown as { watched: Watched }).watched.longTasks.length = 0;
    });
    const began = performance.now();
    await button.click();
    await page.locator(shows).first().waitFor();
    const ms = performance.now() - began;
    const tasks = await page.evaluate(
      () => (globalThis as unknown as { watched: Watched }).watched.longTasks,
    );
    return [
      atMost(`a payload of ${mb} MB: opened`, ms, 2_000),
      atMost(`a payload of ${mb} MB: longest task`, Math.max(0, ...tasks), 1_000),
    ];
  } finally {
    await browser.close();
    await bench.db.query("delete from worker._private_jobs where id = $1", [rows[0].id]);
  }
}
