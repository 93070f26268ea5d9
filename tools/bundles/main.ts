/** Builds those bundles of this checkout that are not current, and prints the name of their folder. */
import { stripVTControlCharacters } from 'node:util';
import { root } from '../repository.ts';
import { buildBundles } from './build-bundles.ts';
import { writeInputs } from './build-changed.ts';
import { type Build, buildOnce } from './build-once.ts';

try {
  const build: Build = async (folder, earlier) => {
    const { inputs, bundles } = await buildBundles(folder, earlier);
    writeInputs(folder, bundles);
    return inputs;
  };
  console.log(await buildOnce(root, build));
} catch (caught) {
  // The bundler's text is coloured, wherever it goes.
  console.error(stripVTControlCharacters(caught instanceof Error ? caught.message : String(caught)));
  process.exitCode = 1;
}
