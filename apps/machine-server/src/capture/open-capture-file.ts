import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type CaptureFileWriter, createCaptureFileWriter } from '@platform/capture-file';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { fileName, seriesPath } from '../directories/paths.ts';
import type { RollContext } from './roll-context.ts';
import type { BinaryFile, Series } from './series.ts';

export interface Opening {
  readonly seq: number;
  /** Wall clock. */
  readonly openedUs: number;
  /** File type of a binary reading, which gets its own file. */
  readonly own: BinaryFile | undefined;
}

/** Creates a capture file of a series. */
export async function openCaptureFile(
  { directory, bufferBytes, ...series }: Series,
  { ledger, partId, storage }: Pick<RollContext, 'ledger' | 'partId' | 'storage'>,
  { seq, openedUs, own }: Opening,
): Promise<CaptureFileWriter> {
  const metadata = { ...series.metadata, ...own };
  const { componentType, componentName, methodName } = metadata;
  const name = fileName(openedUs, ledger.stream, seq);
  const header = create(CaptureFileHeaderSchema, {
    ...{ stream: ledger.stream, seq: BigInt(seq), partId, metadata },
    created: timestampFromMs(Math.floor(openedUs / 1_000)),
  });
  const path = join(directory, seriesPath(componentType, componentName, methodName), name);
  return createCaptureFileWriter({ storage, path, header, bufferBytes });
}
