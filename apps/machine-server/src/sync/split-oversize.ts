/** Readings that the cloud would refuse for their size (D14) are removed from their file before its first upload (C11). */
import { randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { create } from '@bufbuild/protobuf';
import { maxReadingBytes } from '@platform/base';
import { type CaptureFileContents, createCaptureFileWriter, sealedName } from '@platform/capture-file';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { diskStorage } from '../directories/disk-storage.ts';
import { inFolder } from '../directories/folder.ts';
import { asidePath, writeReason } from '../directories/set-aside.ts';

export interface Split {
  /** Readings to send. */
  readonly rest: readonly Uint8Array[];
  readonly oversize: readonly Uint8Array[];
}

/** Pure and based on the file alone, so a repeated upload sends the same bytes. */
export function splitOversize(readings: readonly Uint8Array[]): Split {
  const oversize = readings.filter((reading) => reading.length > maxReadingBytes);
  if (oversize.length === 0) return { rest: readings, oversize };
  return { rest: readings.filter((reading) => reading.length <= maxReadingBytes), oversize };
}

/** Writes the oversize readings to `failed/<path>.oversize_<readings>.capture` with the reason; true if that file did not exist yet. */
export async function keepOversize(
  path: string,
  directory: string,
  contents: CaptureFileContents,
  oversize: readonly Uint8Array[],
  nowMs: number,
): Promise<boolean> {
  const target = asidePath(path, directory).replace(/\.capture$/, '.oversize');
  const sealed = sealedName(`${target}.prog`, oversize.length);
  const found = await inFolder(sealed, directory, (at) => lstat(at)).catch(() => undefined);
  if (found !== undefined) return false;
  const storage = diskStorage(directory);
  await storage.remove(`${target}.prog`);
  // Uses its own stream, so that this file does not hold back the low-water mark of the original stream.
  const header = create(CaptureFileHeaderSchema, {
    ...contents.header,
    stream: new Uint8Array(randomBytes(16)),
    seq: 1n,
  });
  const writer = await createCaptureFileWriter({ storage, path: target, header });
  for (const reading of oversize) {
    writer.append(reading);
    await writer.flush();
  }
  const sizes = oversize.map((reading) => reading.length).join(', ');
  const reason = `a reading of more than ${maxReadingBytes} bytes (${sizes}) is not accepted by the cloud (D14)`;
  await writeReason(sealed, directory, reason, nowMs);
  await writer.seal();
  return true;
}
