/** Builds the bundles of this checkout unless they are current, and prints the name of their folder. */
import { stripVTControlCharacters } from 'node:util';
import { root } from '../repository.ts';
import { buildBundles } from './build-bundles.ts';
import { buildOnce } from './build-once.ts';

try {
  console.log(await buildOnce(root, async (folder) => (await buildBundles(folder)).inputs));
} catch (caught) {
  // The bundler's text is coloured, wherever it goes.
  console.error(stripVTControlCharacters(caught instanceof Error ? caught.message : String(caught)));
  process.exitCode = 1;
}
