import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { readCaptureFile } from '@platform/capture-file';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';

/** The hashes of the ledger readings in the capture files below a folder, as far as they can be read while they are written. */
export function capturedIn(folder: string): ReadonlySet<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(capture|prog)$/.test(name),
  );
  return new Set(files.flatMap((name) => readingsOf(join(folder, name))).map(hashOf));
}

function readingsOf(path: string): readonly Uint8Array[] {
  try {
    return readCaptureFile(readFileSync(path)).readings;
  } catch {
    // Sent meanwhile, or without a whole header.
    return [];
  }
}

function hashOf(reading: Uint8Array): string {
  const { data } = fromBinary(SensorDataSchema, reading);
  const fields = data.case === 'struct' ? data.value['readings'] : undefined;
  return String((fields as Record<string, unknown> | undefined)?.['hash']);
}
