// The build writes this file (build.mjs). The sources must compile without it.
declare module "*/dist/ui/assets.json" {
  const assets: unknown;
  export default assets;
}
