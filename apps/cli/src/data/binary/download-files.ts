/** Downloads several files into a directory, a few at a time. A file that is not available does not stop the others. */
import { asPlatformError, type BinaryMetadata, type Cloud } from '@platform/sdk/cloud';
import { downloadFile, isGone } from './download-file.ts';

export interface Downloaded {
  /** Number of files received, not counting those that already existed. */
  readonly downloaded: number;
  readonly bytes: number;
  /** Files that are gone from the cloud or damaged there. */
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
}

const atOnce = 4;

/** @throws any error that affects all downloads: no connection, no permission, no space, Ctrl-C */
export async function downloadFiles(
  cloud: Pick<Cloud, 'openFile'>,
  files: readonly BinaryMetadata[],
  directory: string,
  received: (file: BinaryMetadata) => void = () => {},
): Promise<Downloaded> {
  const waiting = [...files];
  const failed: { id: string; reason: string }[] = [];
  let downloaded = 0;
  let bytes = 0;
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      try {
        const count = await downloadFile(cloud, file, directory).catch((caught: unknown) => {
          // The cloud may have ended the stream because it found the file damaged; a second request gets that error.
          if (asPlatformError(caught).code !== 'unavailable') throw caught;
          return downloadFile(cloud, file as BinaryMetadata, directory);
        });
        if (count === undefined) continue;
        downloaded++;
        bytes += count;
        received(file);
      } catch (caught) {
        if (!isGone(caught)) {
          waiting.length = 0;
          throw caught;
        }
        failed.push({ id: file.binaryDataId, reason: asPlatformError(caught).message });
      }
    }
  };
  // Waits for the running downloads, so that no file is written after the command has ended.
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const failure = ended.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return { downloaded, bytes, failed };
}
