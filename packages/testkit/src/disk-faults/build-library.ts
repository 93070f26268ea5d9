/** Compiles the preloaded library, once for each version of its sources. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = ['faults.h', 'faults.c', 'calls.c'].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** @returns path of the library. @throws without Linux or a C compiler */
export function buildLibrary(): string {
  if (process.platform !== 'linux') throw new Error('disk faults need Linux: they are a library that LD_PRELOAD loads');
  const hash = createHash('sha256');
  for (const source of sources) hash.update(readFileSync(source));
  const folder = join(tmpdir(), `disk-faults-${process.getuid?.()}`);
  const library = join(folder, `${hash.digest('hex').slice(0, 16)}.so`);
  if (existsSync(library)) return library;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${library}.${process.pid}`;
  const compiled = sources.filter((source) => source.endsWith('.c'));
  const args = ['-shared', '-fPIC', '-O2', '-Wall', '-o', draft, ...compiled, '-ldl', '-lpthread'];
  const { error, status, stderr } = spawnSync('cc', args, { encoding: 'utf8' });
  if (error !== undefined)
    throw new Error(
      'disk faults need a C compiler to build their library; install one (apt-get install gcc libc6-dev)',
      {
        cause: error,
      },
    );
  if (status !== 0) throw new Error(`compiling the library of disk faults failed:\n${stderr}`);
  renameSync(draft, library);
  return library;
}
