/** For tests of arbitrary files: a sync of one folder, with a cloud that keeps the contents. */
import { mkdir, mkdtemp, readdir, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createLog, systemClock } from '@platform/base';
import { onTestFinished } from 'vitest';
import { SeqLedger } from '../directories/seq-ledger.ts';
import type { AfterSync } from '../sync/files/after-sync.ts';
import type { SyncSettings } from '../sync/rules/sync-settings.ts';
import { Sync } from '../sync/sync.ts';
import { fakeLink } from './fake-link.ts';

export interface FilesRig {
  /** PLATFORM_HOME. */
  readonly home: string;
  readonly root: string;
  readonly captured: string;
  /** Contents of the sent files, in order. */
  readonly sent: string[];
  readonly told: string[];
  /** Runs while a file is being sent. */
  during: () => Promise<void>;
  /** @param allowed see SyncSettings */
  start(paths: readonly string[], after?: AfterSync, allowed?: readonly string[]): Sync;
  put(path: string, content?: string): Promise<string>;
}

export async function startFilesRig(): Promise<FilesRig> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'files-')));
  onTestFinished(() => rm(base, { recursive: true }));
  const [home, root] = [join(base, 'home'), join(base, 'files')];
  const captured = join(root, 'captured');
  for (const directory of [home, captured]) await mkdir(directory, { recursive: true });
  const rig: FilesRig = {
    ...{ home, root, captured, sent: [], told: [] },
    during: async () => {},
    start(paths, after = { action: 'delete' }, allowed) {
      const sync = new Sync({
        ...{ home, partId: 'part', ledger: new SeqLedger(), clock: systemClock },
        link: fakeLink(async (chunks) => {
          let content = '';
          for await (const chunk of chunks) content += Buffer.from(chunk).toString();
          await rig.during();
          rig.sent.push(content);
        }),
        captureDirectories: () => [captured],
        seal: async () => {},
        log: createLog((_level, _logger, message, fields) =>
          rig.told.push(`${message} ${String(fields['path'] ?? '')}`),
        ),
      });
      onTestFinished(() => sync[Symbol.asyncDispose]());
      const settings: SyncSettings = {
        ...{ intervalMs: 3_600_000, disabled: true, threads: 1, tags: [], additionalPaths: paths, unmodifiedMs: 1_000 },
        ...{ after, allowedFolders: allowed, newestFirst: false, priorities: {}, maxBytesPerSecond: 0 },
      };
      sync.configure(settings, async () => undefined);
      return sync;
    },
    async put(path, content = path) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      await utimes(file, 1, 1);
      return file;
    },
  };
  return rig;
}

/** The files below a folder, relative to it. */
export async function left(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isDirectory() ? [] : [join(entry.parentPath, entry.name).slice(root.length + 1)],
  );
}
