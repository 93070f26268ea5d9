import { readRegular } from '@platform/base';
import { type CaptureFileContents, readCaptureFile, readingsInName } from '@platform/capture-file';

/** A larger file cannot be one of ours: a single reading has at most 256 MiB (C2), files with more readings at most 16 MiB (C7). */
const maxBytes = 320 * 1024 * 1024;

/** Reads a file in a capture directory, into which others may write too. @throws PlatformError data_loss if it has no readable header */
export async function readCaptured(path: string): Promise<CaptureFileContents> {
  return readCaptureFile(await readRegular(path, { maxBytes }), readingsInName(path));
}
