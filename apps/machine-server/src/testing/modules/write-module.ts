/** Programs that tests start as modules. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const typescript = fileURLToPath(new URL('./test-module.ts', import.meta.url));
const odd = fileURLToPath(new URL('./misbehaving-module.ts', import.meta.url));
const python = fileURLToPath(new URL('./test_module.py', import.meta.url));

/** Writes a script that can be started. @returns its path */
export async function writeProgram(directory: string, name: string, script: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const node = `'${process.execPath}' --conditions=@platform/source --disable-warning=ExperimentalWarning`;

/** The module `test-module.ts`. */
export function writeTestModule(directory: string): Promise<string> {
  return writeProgram(directory, 'module.sh', `exec ${node} '${typescript}' "$@"`);
}

/** One of `misbehaving-module.ts`. */
export function writeOddModule(directory: string, behaviour: string): Promise<string> {
  return writeProgram(directory, `${behaviour}.sh`, `exec ${node} '${odd}' ${behaviour} "$@"`);
}

/** The module `test_module.py`, for Debian's Python with its package of gRPC. */
export function writePythonModule(directory: string): Promise<string> {
  return writeProgram(directory, 'python-module.sh', `exec /usr/bin/python3 '${python}' "$@"`);
}
