/**
 * Opens the payload of a known file. A payload that differs from the upload is DATA_LOSS for the caller, and is reported to the host
 * administrator (D33).
 */
import { asPlatformError, dataLoss, type PlatformError } from '@platform/base';
import type { BlobRange } from '../../blobs/verified-files.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { type FileRow, isListed } from '../find/find-files.ts';

/**
 * Undefined: the file has been deleted.
 *
 * @throws data_loss naming the file; if the file changes while it is read, the returned bytes also throw it, before the last of them
 */
export type OpenFile = (row: FileRow, range?: BlobRange) => Promise<AsyncIterable<Uint8Array> | undefined>;

/** Ids of files whose payload was found damaged, until it is found intact again or the file is deleted. */
export type DamagedFiles = ReadonlySet<string>;

export function createOpenFile({
  db,
  blobs,
  log,
  onSent,
}: Pick<BinaryOperationDeps, 'db' | 'blobs' | 'log' | 'onSent'>): {
  readonly openFile: OpenFile;
  readonly damaged: DamagedFiles;
} {
  const damaged = new Set<string>();

  /** The error that the caller gets for an unavailable payload. */
  const lossOf = ({ id, blob_path: path }: FileRow, caught: unknown): PlatformError => {
    const error = asPlatformError(caught);
    if (error.code !== 'data_loss' && error.code !== 'not_found') return error;
    if (!damaged.has(id))
      log.error('a stored file is damaged; it is not served until platform admin repair --from BACKUP restores it', {
        file: id,
        payload: `blobs/${path}`,
        reason: error.message,
      });
    damaged.add(id);
    return dataLoss(`binary data ${id}: its stored file is damaged: ${error.message}`, caught);
  };

  const watched = async function* (row: FileRow, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (caught) {
      throw lossOf(row, caught);
    } finally {
      onSent(row.organization_id, bytes);
    }
  };

  const openFile: OpenFile = async (row, range) => {
    const contents = { sizeBytes: row.size_bytes, sha256: row.sha256 };
    const chunks = await blobs.get(row.blob_path, contents, range).catch(async (caught: unknown) => {
      if (await isListed(db, row.id)) throw lossOf(row, caught);
      damaged.delete(row.id);
      return undefined;
    });
    if (chunks === undefined) return undefined;
    if (damaged.delete(row.id)) log.info('a damaged stored file is intact again', { file: row.id });
    return watched(row, chunks);
  };
  return { openFile, damaged };
}
