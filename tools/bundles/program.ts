/** The programs as users run them, for tests and benchmarks: bundles of this checkout, which are built if a source has changed. */
import { join } from 'node:path';
import { root } from '../repository.ts';
import { findBundles } from './find-bundles.js';
import type { programs } from './programs.ts';

let folder: string | undefined;

/** Path of its main module. */
export function program(name: keyof typeof programs): string {
  folder ??= findBundles(
    root,
    process.execPath,
    (line: string) => console.error(line),
    () => () => {},
  );
  if (folder === undefined) throw new Error('the sources could not be bundled; see above');
  return join(folder, `${name}.js`);
}
