import { type CaptureFileContents, readCaptureFile, readingsInName } from '@platform/capture-file';
import { readBelow } from './open-below.ts';

/** Reads a file in a capture directory, into which others may write too. @throws PlatformError data_loss if it has no readable header */
export async function readCaptured(path: string, directory: string): Promise<CaptureFileContents> {
  return readCaptureFile(await readBelow(path, directory), readingsInName(path));
}
