/** Programs that only tests start, as one file each: from their sources they take three times as long to start. */
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { root } from '../repository.ts';
import { buildBundle } from './build-bundles.ts';
import { program } from './program.ts';

const made = new Map<string, Promise<string>>();

/** Bundles it once in each process that asks. @param source its path @returns the path of the file, which lies beside the bundles */
export function testProgram(source: string): Promise<string> {
  const found = made.get(source) ?? bundle(source);
  made.set(source, found);
  return found;
}

async function bundle(source: string): Promise<string> {
  const name = basename(source, '.ts');
  const folder = dirname(program('machine-server'));
  // Tests of another process may start the one that is there.
  const draft = await mkdtemp(join(folder, 'draft-'));
  await buildBundle({ name, source, folder: draft, root });
  for (const file of [`${name}.js.map`, `${name}.js`]) await rename(join(draft, file), join(folder, file));
  await rm(draft, { recursive: true });
  return join(folder, `${name}.js`);
}
