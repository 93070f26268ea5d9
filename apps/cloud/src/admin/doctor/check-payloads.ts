/** Doctor: checks that the payload of every image and file exists and matches its SHA-256. */
import { join } from 'node:path';
import { asPlatformError, dataLoss } from '@platform/base';
import { type BlobContents, createVerifiedFiles } from '../../blobs/verified-files.ts';

/** A row of `binary_data`. */
export interface ListedPayload extends BlobContents {
  readonly id: string;
  /** Path within `blobs/`. */
  readonly path: string;
}

const shown = 20;

/**
 * Finds payloads that are damaged or missing.
 * @param rows the current list; read again before a payload is reported missing, because it may have been deleted in between
 */
export async function damagedPayloads(
  blobDirectory: string,
  rows: () => Promise<readonly ListedPayload[]>,
  progress: (text: string) => void = () => {},
): Promise<{ readonly wrong: ReadonlyMap<ListedPayload, string>; readonly listed: readonly ListedPayload[] }> {
  const listed = await rows();
  const wrong = new Map<ListedPayload, string>();
  const files = createVerifiedFiles(() => 0);
  for (const [index, row] of listed.entries()) {
    if (index % 500 === 0) progress(`reading pictures and files: ${index} of ${listed.length}`);
    try {
      await files.open(join(blobDirectory, ...row.path.split('/')), row);
    } catch (caught) {
      wrong.set(row, asPlatformError(caught).message);
    }
  }
  const still = new Set(wrong.size === 0 ? [] : (await rows()).map(({ id }) => id));
  for (const row of wrong.keys()) if (!still.has(row.id)) wrong.delete(row);
  return { wrong, listed };
}

/** @throws data_loss naming the files */
export async function checkPayloads(...of: Parameters<typeof damagedPayloads>): Promise<string> {
  const { wrong, listed } = await damagedPayloads(...of);
  const found = [...wrong].map(([{ id, path }, reason]) => `${id} (blobs/${path}): ${reason}`);
  if (found.length === 0) return `${listed.length} pictures and files, each as it was stored`;
  throw dataLoss(
    `expected ${listed.length} pictures and files as they were stored, found ${found.length} that are not (${found.slice(0, shown).join('; ')}${found.length > shown ? '; …' : ''}). Restore their payloads from a backup with platform admin repair --from BACKUP --apply`,
  );
}
