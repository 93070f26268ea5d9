/** Programs that tests start as modules. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testProgram } from '../../../../../tools/bundles/test-program.ts';

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

/** The module `test-module.ts`. */
export async function writeTestModule(directory: string): Promise<string> {
  return writeProgram(directory, 'module.sh', `exec '${process.execPath}' '${await testProgram(typescript)}' "$@"`);
}

/** One of `misbehaving-module.ts`. */
export async function writeOddModule(directory: string, behaviour: string): Promise<string> {
  const script = `exec '${process.execPath}' '${await testProgram(odd)}' ${behaviour} "$@"`;
  return writeProgram(directory, `${behaviour}.sh`, script);
}

/** The module `test_module.py`, for Debian's Python with its package of gRPC. */
export function writePythonModule(directory: string): Promise<string> {
  return writeProgram(directory, 'python-module.sh', `exec /usr/bin/python3 '${python}' "$@"`);
}
