// Declares the file that the build writes (build.mjs), so that the sources compile without that file.
declare module "*/dist/ui/assets.json" {
  const assets: unknown;
  export default assets;
}
