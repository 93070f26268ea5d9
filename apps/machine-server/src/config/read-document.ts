/** Reads the document in a configuration file, and reports every mistake with its place. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type JsonText, readJson } from '@platform/machine-config/read-json';

/** More than any machine needs; the document and its copies must fit into memory. */
const maxBytes = 16 * 1024 * 1024;

/** Never throws. @returns `invalid` with what was expected and found */
export async function readDocumentFile(path: string): Promise<JsonText> {
  const text = await readFile(path).catch((caught: NodeJS.ErrnoException) => caught);
  if (text instanceof Error) return { kind: 'invalid', message: `expected a JSON file, found ${kindOf(text)}` };
  if (text.length > maxBytes)
    return { kind: 'invalid', message: `expected at most ${maxBytes} bytes, found ${text.length}` };
  return readJson(text.toString('utf8'));
}

function kindOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'a directory';
  return `one that cannot be read (${code ?? message})`;
}

/** Differs after every change of a file; empty if there is none. Only regular files are watched, not pipes for example. */
export async function signatureOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return '';
  if (!found.isFile()) return 'no file';
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
}

const [mayRead, mayEnter] = [0o004, 0o001];

/** Whether every account of this computer can read a file. False if that cannot be told, as on Windows. */
export async function isReadByAll(path: string): Promise<boolean> {
  if (process.platform === 'win32' || !(await allows(path, mayRead))) return false;
  for (let at = dirname(resolve(path)); ; at = dirname(at)) {
    if (!(await allows(at, mayEnter))) return false;
    if (dirname(at) === at) return true;
  }
}

async function allows(path: string, everyone: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && (found.mode & everyone) !== 0;
}
