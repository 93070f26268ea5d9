/** Part of the doctor: the payload of every picture and file is there, and compared with its SHA-256. */
import { join } from 'node:path';
import { asPlatformError, PlatformError } from '@platform/base';
import { type BlobContents, createVerifiedFiles } from '../blobs/verified-files.ts';

/** A row of `binary_data`. */
export interface ListedPayload extends BlobContents {
  readonly id: string;
  /** Below `blobs/`. */
  readonly path: string;
}

const shown = 20;

/**
 * @param rows what is listed at this moment; asked again before anything is called missing, for what was deleted meanwhile
 * @throws data_loss naming the files
 */
export async function checkPayloads(
  blobDirectory: string,
  rows: () => Promise<readonly ListedPayload[]>,
  progress: (text: string) => void = () => {},
): Promise<string> {
  const listed = await rows();
  const wrong = new Map<string, string>();
  const files = createVerifiedFiles(() => 0);
  for (const [index, row] of listed.entries()) {
    if (index % 500 === 0) progress(`reading pictures and files: ${index} of ${listed.length}`);
    try {
      await files.open(join(blobDirectory, ...row.path.split('/')), row);
    } catch (caught) {
      wrong.set(row.id, `${row.id} (blobs/${row.path}): ${asPlatformError(caught).message}`);
    }
  }
  const still = new Set(wrong.size === 0 ? [] : (await rows()).map(({ id }) => id));
  const found = [...wrong].filter(([id]) => still.has(id)).map(([, text]) => text);
  const unknown = listed.filter(({ sha256 }) => sha256 === '').length;
  if (found.length === 0)
    return `${listed.length} pictures and files, each as it was stored${unknown > 0 ? `; of ${unknown} only the size is known` : ''}`;
  throw new PlatformError(
    'data_loss',
    `expected ${listed.length} pictures and files as they were stored, found ${found.length} that are not (${found.slice(0, shown).join('; ')}${found.length > shown ? '; …' : ''}). Restore their payloads from a backup`,
  );
}
