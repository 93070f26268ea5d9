/** Repair: restores damaged or missing payloads of images and files from a backup, if they match what was stored. */
import { createReadStream, lstatSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dataLoss, type Repaired } from '@platform/base';
import { hasFile } from '../../backup/listed-files.ts';
import { createBlobDirectories } from '../../blobs/blob-directories.ts';
import { incoming, writeBlob } from '../../blobs/write-blob.ts';
import { damagedPayloads, type ListedPayload } from '../doctor/check-payloads.ts';
import type { Backup } from './open-backup.ts';
import type { RepairOptions } from './repair.ts';

export async function repairPayloads(options: RepairOptions, backup: Backup | undefined): Promise<Repaired[]> {
  const { blobDirectory, store, apply, ask, progress } = options;
  const { wrong } = await damagedPayloads(blobDirectory, store.listedPayloads, progress);
  const report: Repaired[] = [];
  for (const [row, damage] of wrong) {
    const what = `blobs/${row.path}`;
    const source = await sourceOf(row, backup);
    if (source !== undefined && apply) {
      await restore(blobDirectory, row, source);
      await ask('repair.restored', { file: what, from: source });
    }
    report.push({
      what,
      damage,
      ...(source === undefined
        ? { outcome: 'lost', detail: `no given backup contains it; see --from, or delete file ${row.id}` }
        : { outcome: apply ? 'restored' : 'can be restored', detail: `from ${source}` }),
    });
  }
  return report;
}

/** Undefined: the backup has no undamaged copy. */
async function sourceOf(row: ListedPayload, backup: Backup | undefined): Promise<string | undefined> {
  if (backup === undefined) return undefined;
  if (!(await hasFile(backup.directory, `blobs/${row.path}`))) return undefined;
  const directory = join(backup.directory, 'blobs');
  const { wrong } = await damagedPayloads(directory, async () => [row]);
  return wrong.size === 0 ? join(directory, ...row.path.split('/')) : undefined;
}

async function restore(blobDirectory: string, row: ListedPayload, source: string): Promise<void> {
  await mkdir(join(blobDirectory, incoming), { recursive: true, mode: 0o700 });
  const target = join(blobDirectory, ...row.path.split('/'));
  // Renaming a file does not replace a directory.
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) await rm(target, { recursive: true });
  const folder = { directory: blobDirectory, makeDirectory: createBlobDirectories(blobDirectory) };
  await writeBlob(folder, row.path, createReadStream(source), ({ sizeBytes, sha256 }) => {
    const isIt = sizeBytes === row.sizeBytes && Buffer.from(sha256).toString('hex') === row.sha256;
    if (!isIt) throw dataLoss(`${source}: it changed while it was being read`);
  });
}
