// The build writes this JSON file, which contains the bundled code of the heartbeat thread. With this declaration the
// sources compile before the file exists.
declare module "*/dist/heartbeat-thread.json" {
  const text: string;
  export default text;
}
