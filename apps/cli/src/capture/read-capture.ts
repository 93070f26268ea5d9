/** Reads the capture files below a folder, one at a time; damage is described, never thrown. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failedPrecondition, notFound } from '@platform/base/refusals';
import { type CaptureFileContents, describeReading, readCaptureFile, readingsInName } from '@platform/capture-file';
import { asPlatformError, type JsonObject } from '@platform/sdk/cloud';

export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  /** Absent if not even the header can be read. */
  readonly contents: CaptureFileContents | undefined;
  /** What is wrong with it; undefined if it is intact. */
  readonly fault: string | undefined;
}

/** @param path a file or a folder. @throws not_found; failed_precondition if it cannot be listed */
export function* capturePaths(path: string): Generator<string> {
  try {
    if (!lstatSync(path).isDirectory()) {
      yield path;
      return;
    }
    for (const entry of readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) yield* capturePaths(inner);
      else if (entry.isFile() && /\.(capture|prog)$/.test(entry.name)) yield inner;
    }
  } catch (caught) {
    const { code, message } = caught as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw notFound(`expected a capture file or a folder of them at ${path}, found nothing`, caught);
    throw failedPrecondition(`${path} cannot be read: ${message}`, caught);
  }
}

export function readFound(path: string): FoundFile {
  let data: Uint8Array;
  try {
    data = readFileSync(path);
  } catch (caught) {
    return { path, bytes: 0, contents: undefined, fault: `cannot be read: ${asPlatformError(caught).message}` };
  }
  try {
    const contents = readCaptureFile(data, readingsInName(path));
    return { path, bytes: data.length, contents, fault: faultOf(contents) };
  } catch (caught) {
    return { path, bytes: data.length, contents: undefined, fault: asPlatformError(caught).message };
  }
}

function faultOf({ cutBytes, cutReason, missing, readings }: CaptureFileContents): string | undefined {
  if (cutBytes > 0 || missing > 0)
    return `${cutBytes} bytes are damaged and ${missing} readings are missing: ${cutReason ?? 'its end was cut off'}`;
  for (const [index, reading] of readings.entries())
    try {
      describeReading(reading);
    } catch (caught) {
      return `reading ${index + 1}: ${asPlatformError(caught).message}`;
    }
  return undefined;
}

/** The readings that can be decoded, in the format of `platform data export`. */
export function* linesOf({ header, readings }: CaptureFileContents): Generator<JsonObject> {
  const { componentType = '', componentName = '', methodName = '', tags = [] } = header.metadata ?? {};
  for (const reading of readings) {
    let described: ReturnType<typeof describeReading>;
    try {
      described = describeReading(reading);
    } catch {
      continue;
    }
    const { timeReceived, timeRequested, document, binary } = described;
    yield {
      time_captured: timeReceived,
      time_requested: timeRequested,
      part_id: header.partId,
      resource_subtype: componentType,
      resource_name: componentName,
      method_name: methodName,
      tags: [...tags],
      payload: document ?? (binary === undefined ? {} : { base64: Buffer.from(binary).toString('base64') }),
    };
  }
}
