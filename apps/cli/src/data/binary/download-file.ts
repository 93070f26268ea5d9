/** One file into a directory: `NAME.partial` while it comes, which a later download goes on with; then `NAME`. */
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { asPlatformError, type BinaryMetadata, type Cloud, PlatformError } from '@platform/sdk/cloud';

/** @returns the bytes that were received, undefined when the whole file was there. @throws unavailable when it breaks off, data_loss when the cloud has it damaged */
export async function downloadFile(
  cloud: Pick<Cloud, 'openFile'>,
  file: BinaryMetadata,
  directory: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const target = join(directory, nameOf(file));
  const partial = `${target}.partial`;
  const size = Number(file.fileSizeBytes);
  if ((await sizeOf(target)) === size) return undefined;
  const there = (await sizeOf(partial)) ?? 0;
  let received = 0;
  if (there !== size) {
    const { fromByte, chunks } = await cloud
      .openFile(file.binaryDataId, { fromByte: there < size ? there : 0, signal })
      .catch(async (caught: unknown) => {
        // Nothing will ever complete what is there.
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
      throw new PlatformError(
        'unavailable',
        `${file.binaryDataId}: expected ${size} bytes, found ${fromByte + received}; the same command goes on`,
      );
    await part.sync();
  }
  await rename(partial, target);
  return received;
}

/** The name that the file was uploaded with, behind its id: names repeat, and none leaves the directory or hides. */
export function nameOf({
  binaryDataId,
  fileName,
  fileExt,
}: Pick<BinaryMetadata, 'binaryDataId' | 'fileName' | 'fileExt'>): string {
  const plain = (text: string): string => text.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_');
  const last = basename(fileName.replaceAll('\\', '/'));
  const named = last === '' ? plain(fileExt) : `-${plain(last.endsWith(fileExt) ? last : last + fileExt)}`;
  return `${plain(binaryDataId).replace(/^\./, '_')}${named}`.slice(0, 200);
}

/** The cloud has the file damaged, or no longer: other files are not concerned. */
export function isGone(caught: unknown): boolean {
  return ['data_loss', 'not_found'].includes(asPlatformError(caught).code);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
