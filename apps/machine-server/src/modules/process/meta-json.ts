/** Reads `meta.json` in the folder of a module. */
import { isAbsolute, join, relative } from 'node:path';
import { failedPrecondition, readRegular } from '@platform/base';

const maxBytes = 1024 * 1024;

/** A path that `meta.json` names, in the folder; undefined if it names none. @throws failed_precondition if it leads out of the folder */
export async function pathInMeta(folder: string, key: 'entrypoint' | 'first_run'): Promise<string | undefined> {
  const file = join(folder, 'meta.json');
  const text = await read(file).catch(() => undefined);
  if (text === undefined) return undefined;
  const found = parse(text, file)[key];
  if (typeof found !== 'string' || found === '') return undefined;
  const path = join(folder, found);
  const inside = relative(folder, path);
  if (!isAbsolute(found) && inside !== '' && !inside.startsWith('..')) return path;
  const expected = `${key} of meta.json: expected a path in ${folder}, found ${JSON.stringify(found)}`;
  throw failedPrecondition(expected);
}

/** The version that `meta.json` names; empty if it names none, or cannot be read. */
export async function versionInMeta(folder: string): Promise<string> {
  const file = join(folder, 'meta.json');
  try {
    const { version } = parse(await read(file), file);
    return typeof version === 'string' ? version.slice(0, 100) : '';
  } catch {
    return '';
  }
}

async function read(file: string): Promise<string> {
  return Buffer.from(await readRegular(file, { maxBytes, followsLinks: true })).toString('utf8');
}

function parse(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const meta: unknown = JSON.parse(text);
    return typeof meta === 'object' && meta !== null ? { ...meta } : {};
  } catch (caught) {
    throw failedPrecondition(`${file}: expected JSON, found something else`, caught);
  }
}
