// The build makes this file (build.mjs); the sources must compile without it.
declare module "*/dist/ui/assets.json" {
  const assets: unknown;
  export default assets;
}
