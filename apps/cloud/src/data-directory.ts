/**
 * The data directory: claimed, versioned and locked before anything in it is opened.
 *
 * `platform.json` says that a directory is ours and which version of the layout it has. `lock` names the process that
 * holds it; a lock whose process is gone is taken over. Nothing is written into a directory that is not ours.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { claimProcessLock } from './instance/claim-process-lock.ts';

/** Version of the layout that this program reads and writes. */
export const dataVersion = 1;

const markerName = 'platform.json';

export interface DataDirectory extends Disposable {
  readonly path: string;
  /** True when this start created the directory's contents. */
  readonly isNew: boolean;
  /** Absolute path of a file or folder in it. */
  at(...names: string[]): string;
}

/** Opens or creates `path`. Throws failed_precondition naming what was found when it is not ours, newer, in use or not writable. */
export function openDataDirectory(path: string): DataDirectory {
  const isNew = claim(path);
  const lock = claimProcessLock(join(path, 'lock'), `data directory ${path}`);
  return {
    path,
    isNew,
    at: (...names) => join(path, ...names),
    [Symbol.dispose]: () => lock[Symbol.dispose](),
  };
}

function claim(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = readdirSync(path);
    if (!found.includes(markerName)) {
      const foreign = found.filter((name) => name !== 'lock');
      if (foreign.length > 0) throw notOurs(path, foreign);
      writeFileSync(join(path, markerName), `${JSON.stringify({ format: 'platform-data', version: dataVersion })}\n`, {
        mode: 0o600,
      });
      return true;
    }
    checkVersion(path);
    writeFileSync(join(path, '.writable'), '');
    return false;
  } catch (caught) {
    if (caught instanceof PlatformError) throw caught;
    const reason = caught instanceof Error ? caught.message : String(caught);
    throw new PlatformError(
      'failed_precondition',
      `data directory ${path} cannot be written: ${reason}. Choose another with --data DIR, or make it writable for this user`,
      caught,
    );
  }
}

function notOurs(path: string, found: readonly string[]): PlatformError {
  const shown = found.slice(0, 3).join(', ') + (found.length > 3 ? `, … (${found.length} entries)` : '');
  return new PlatformError(
    'failed_precondition',
    `data directory ${path} is not ours: expected it to be empty or to hold ${markerName}, found ${shown}. Nothing was changed; choose another with --data DIR`,
  );
}

function checkVersion(path: string): void {
  const file = join(path, markerName);
  const text = readFileSync(file, 'utf8');
  let marker: { format?: unknown; version?: unknown };
  try {
    marker = JSON.parse(text);
  } catch (caught) {
    throw new PlatformError(
      'failed_precondition',
      `${file} is damaged: expected JSON, found ${JSON.stringify(text.slice(0, 80))}`,
      caught,
    );
  }
  if (marker.format !== 'platform-data' || typeof marker.version !== 'number') {
    throw new PlatformError(
      'failed_precondition',
      `data directory ${path} is not ours: ${file} has format ${JSON.stringify(marker.format)}, expected "platform-data"`,
    );
  }
  if (marker.version > dataVersion) {
    throw new PlatformError(
      'failed_precondition',
      `data directory ${path} has version ${marker.version}, this program reads up to version ${dataVersion}. Start the newer program that wrote it; nothing was changed`,
    );
  }
}
