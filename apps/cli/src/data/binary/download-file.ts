/** Downloads one file into a directory: as `NAME.partial`, which a later download resumes, then as `NAME`. */
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unavailable } from '@platform/base/refusals';
import { asPlatformError, type BinaryMetadata, type Cloud } from '@platform/sdk/cloud';

/**
 * @returns the number of bytes received, or undefined if the complete file already existed. @throws unavailable if the connection breaks,
 * data_loss if the file is damaged in the cloud
 */
export async function downloadFile(
  cloud: Pick<Cloud, 'openFile'>,
  file: BinaryMetadata,
  directory: string,
): Promise<number | undefined> {
  const target = join(directory, nameOf(file));
  const partial = `${target}.partial`;
  const size = Number(file.fileSizeBytes);
  if ((await sizeOf(target)) === size) return undefined;
  const there = await sizeOf(partial);
  let received = 0;
  if (there !== size) {
    const { fromByte, chunks } = await cloud
      .openFile(file.binaryDataId, there !== undefined && there < size ? there : 0)
      .catch(async (caught: unknown) => {
        // The partial file can never be completed.
        if (isGone(caught)) await rm(partial, { force: true });
        throw caught;
      });
    await using part = await open(partial, fromByte > 0 ? 'r+' : 'w');
    await part.truncate(fromByte);
    for await (const chunk of chunks) {
      await part.write(chunk, 0, chunk.length, fromByte + received);
      received += chunk.length;
    }
    if (fromByte + received !== size)
      throw unavailable(
        `${file.binaryDataId}: expected ${size} bytes, found ${fromByte + received}; run the same command again to resume`,
      );
    await part.sync();
  }
  await rename(partial, target);
  return received;
}

/** File systems allow 255, and `.partial` is added. */
const mostNameBytes = 200;

/** The id, then the name that the file was uploaded with: names repeat, and none may escape the directory or be hidden. */
export function nameOf({
  binaryDataId,
  fileName,
  fileExt,
}: Pick<BinaryMetadata, 'binaryDataId' | 'fileName' | 'fileExt'>): string {
  const plain = (text: string): string => text.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_');
  const last = basename(fileName.replaceAll('\\', '/'));
  const named = last === '' ? plain(fileExt) : `-${plain(last.endsWith(fileExt) ? last : last + fileExt)}`;
  return atMost(mostNameBytes, `${plain(binaryDataId).replace(/^\./, '_')}${named}`);
}

function atMost(bytes: number, text: string): string {
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}

/** The file is damaged in the cloud or no longer there; other files are not affected. */
export function isGone(caught: unknown): boolean {
  return ['data_loss', 'not_found'].includes(asPlatformError(caught).code);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
