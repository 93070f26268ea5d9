/** Builds the bundles of this checkout unless they are current, and prints the name of their folder. */
import { root } from '../repository.ts';
import { buildBundles } from './build-bundles.ts';
import { buildOnce } from './build-once.ts';

try {
  console.log(await buildOnce(root, async (folder) => (await buildBundles(folder)).inputs));
} catch (caught) {
  console.error(caught instanceof Error ? caught.message : caught);
  process.exitCode = 1;
}
