import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, sep } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { maxTags } from '@platform/machine-config/limits';
import { DataType, UploadMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { Uploads } from './uploads.ts';

const chunkBytes = 64 * 1024;

/** Sends an arbitrary file. Path segments `tag=<t>` and `dataset=<id>` become tags and datasets, as public machine-servers do. */
export async function uploadFile(
  path: string,
  partId: string,
  tags: readonly string[],
  uploads: Uploads,
  signal: AbortSignal,
): Promise<Outcome> {
  let opened: ReadStream | undefined;
  // Opened when it is asked for: a stream that nobody listens to ends the process when it cannot open its file, and one that nobody reads keeps it open.
  async function* chunks(): AsyncGenerator<Uint8Array> {
    opened = createReadStream(path, { highWaterMark: chunkBytes });
    yield* opened;
  }
  try {
    const { birthtimeMs, mtimeMs } = await stat(path);
    const segments = path.split(sep);
    const named = (key: string): string[] =>
      segments.filter((segment) => segment.startsWith(key)).map((segment) => segment.slice(key.length));
    const metadata = create(UploadMetadataSchema, {
      partId,
      type: DataType.FILE,
      fileName: path,
      fileExtension: extname(path),
      fileCreateTime: timestampFromMs(Math.floor(birthtimeMs)),
      fileModifyTime: timestampFromMs(Math.floor(mtimeMs)),
      tags: [...tags, ...named('tag=')].slice(0, maxTags),
      datasetIds: named('dataset='),
    });
    await uploads.file(metadata, chunks(), signal);
    return { kind: 'accepted', readings: 0 };
  } catch (caught) {
    return outcomeOf(caught);
  } finally {
    opened?.destroy();
  }
}
