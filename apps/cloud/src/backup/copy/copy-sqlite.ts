/**
 * Copies `meta`, then `ingest`, each as of one moment. Because deletions are held, the copied log still has every row after the S of the
 * copied catalog, and ends later than it.
 */
import { join } from 'node:path';
import type { BackedUpFile } from '../manifest.ts';
import { namedFiles } from '../named-files.ts';
import type { CopiedStores, CopyOptions } from './copied-stores.ts';
import { copyDatabase, readDatabase, userVersion } from './copy-database.ts';
import { measureFile } from './copy-with-hash.ts';

export async function copySqlite(options: CopyOptions): Promise<CopiedStores> {
  const { dataDirectory, destination, progress, signal } = options;
  const files: BackedUpFile[] = [];
  for (const name of ['meta.sqlite', 'ingest.sqlite']) {
    signal.throwIfAborted();
    progress(`copying ${name}`);
    await copyDatabase(join(dataDirectory, name), join(destination, name));
    files.push({ path: name, ...(await measureFile(join(destination, name), signal)) });
  }
  const meta = readDatabase(join(destination, 'meta.sqlite'), (db) => ({
    metaVersion: userVersion(db),
    sealedPosition: Number(db.prepare('select sealed_position from tabular_state').get()?.['sealed_position']),
    files: db.prepare('select * from tabular_files order by file').all(),
    stored: db.prepare('select * from binary_data').all(),
    packages: db.prepare('select * from packages').all(),
  }));
  const log = readDatabase(join(destination, 'ingest.sqlite'), (db) => ({
    ingestVersion: userVersion(db),
    lastPosition: Number(db.prepare("select seq from sqlite_sequence where name = 'log'").get()?.['seq'] ?? 0),
    blobs: db.prepare('select path from blobs order by path').all(),
  }));
  const { files: listed, stored, packages, ...ofMeta } = meta;
  const { blobs, ...ofLog } = log;
  return { store: 'sqlite', files, ...ofMeta, ...ofLog, named: namedFiles(listed, blobs, stored, packages) };
}
