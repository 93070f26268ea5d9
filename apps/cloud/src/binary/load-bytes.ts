/** The bytes of files, into an answer. Few answers with files are made at a time, so that they never fill the memory. */
import { asPlatformError, createLimiter, PlatformError } from '@platform/base';
import type { BinaryDeps } from './binary-deps.ts';
import type { FileRow } from './find-files.ts';

const answersAtOnce = 4;

/** Undefined: the file was deleted meanwhile. @throws data_loss */
export type LoadBytes = (row: FileRow) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** Runs what makes one answer out of files. */
export type WithBytes = <T>(answer: (load: LoadBytes) => Promise<T>) => Promise<T>;

export function createLoadBytes({ db, blobs }: Pick<BinaryDeps, 'db' | 'blobs'>): WithBytes {
  const limited = createLimiter(answersAtOnce);
  const load: LoadBytes = async (row) => {
    const stored = await blobs.get(row.blob_path).catch((caught: unknown) => {
      if (asPlatformError(caught).code === 'not_found') return undefined;
      throw caught;
    });
    if (stored?.sizeBytes === row.size_bytes) return collect(stored.chunks, row.size_bytes);
    const still = await db.selectFrom('binary_data').select('id').where('id', '=', row.id).executeTakeFirst();
    if (still === undefined) return undefined;
    throw new PlatformError(
      'data_loss',
      `binary data ${row.id}: expected a file of ${row.size_bytes} bytes in the blob store, found ${stored === undefined ? 'none' : `${stored.sizeBytes} bytes`}; restore it from a backup`,
    );
  };
  return (answer) => limited(() => answer(load));
}

async function collect(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(sizeBytes);
  let at = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
