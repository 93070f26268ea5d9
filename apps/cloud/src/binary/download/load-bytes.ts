/** Loads the bytes of files into an answer. Only a few such answers are built at a time, so that they never fill the memory. */
import { createLimiter } from '@platform/base';
import type { FileRow } from '../find/find-files.ts';
import type { OpenFile } from './open-file.ts';

const answersAtOnce = 4;

/** Undefined: the file has been deleted. @throws data_loss */
export type LoadBytes = (row: FileRow) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** Runs a function that builds one answer from files. */
export type WithBytes = <T>(answer: (load: LoadBytes) => Promise<T>) => Promise<T>;

export function createLoadBytes(openFile: OpenFile): WithBytes {
  const limited = createLimiter(answersAtOnce);
  const load: LoadBytes = async (row) => {
    const chunks = await openFile(row);
    return chunks && collect(chunks, row.size_bytes);
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
