/** The page's entry: the module and the application are fetched side by side. */
import { serverUrl } from "./address.ts";
import { start } from "./admin-ui.ts";

await start(serverUrl("./admin_ui_bg.wasm", import.meta.url));
