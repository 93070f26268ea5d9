/** UploadService: large files in pieces, which are staged until all have arrived and are then accepted like any other upload. */
import { invalidArgument } from '@platform/base';
import { DataType, type UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import { type Handlers, type ServiceBinding, serve } from '@platform/rpc/server';
import { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import { acceptUpload } from '../accept-upload.ts';
import type { UploadRpcDeps } from '../rpc.ts';
import { checkMetadata, requireMetadata } from '../upload-metadata.ts';
import { maxBodyBytes } from './body-route.ts';
import type { StagedKey, StagedUploads } from './staged-uploads.ts';

const keyBytes = 32;
const maxChunkBytes = 4 * 1024 * 1024;

export function uploadServiceBinding<P>(deps: UploadRpcDeps<P>, staged: StagedUploads): ServiceBinding<P> {
  const keyOf = async (principal: P, partId: string, key: Uint8Array): Promise<StagedKey> => {
    const { organizationId } = await deps.authorizeUpload(principal, partId);
    if (key.length === keyBytes) return { organizationId, partId, key };
    throw invalidArgument(`expected a key of ${keyBytes} bytes, found ${key.length}`);
  };
  const handlers: Handlers<typeof UploadService, P> = {
    async beginUpload({ partId, key: given, size }, { principal }) {
      const key = await keyOf(principal, partId, given);
      staged.interrupt(key);
      return staged.inTurn(key, async () => {
        const binaryDataId = await staged.answer(key);
        if (binaryDataId !== undefined) return { binaryDataId, maxChunkBytes };
        const offset = BigInt(await staged.begin(key, Number(size)));
        return { offset, maxChunkBytes, maxBodyBytes: BigInt(maxBodyBytes) };
      });
    },
    async writeUpload({ partId, key: given, offset, data }, { principal }) {
      const key = await keyOf(principal, partId, given);
      if (data.length > maxChunkBytes)
        throw invalidArgument(`expected at most ${maxChunkBytes} bytes, found ${data.length}`);
      return staged.inTurn(key, async () => ({
        offset: BigInt(await staged.write(key, Number(offset), data.length, once(data))),
      }));
    },
    async finishUpload({ metadata: given, key: givenKey, sha256 }, call) {
      const { name } = UploadService.method.finishUpload;
      const metadata: UploadMetadata = requireMetadata(given, name);
      const key = await keyOf(call.principal, metadata.partId, givenKey);
      const place = await deps.authorizeUpload(call.principal, metadata.partId);
      const checked = checkMetadata(metadata, [DataType.FILE], DataType.FILE, name);
      return staged.inTurn(key, async () => {
        const answered = await staged.answer(key);
        if (answered !== undefined) return { binaryDataId: answered };
        const file = await staged.complete(key, sha256);
        const payload = { staged: file, timeReceivedMs: null };
        const { fileId } = await acceptUpload(
          deps,
          place,
          checked,
          { readings: ReadingRanges.of([]), refused: [] },
          payload,
          call,
        );
        await staged.finish(key, fileId);
        return { binaryDataId: fileId };
      });
    },
  };
  // I13: no body is read if the disk has no room for it.
  return serve(UploadService, handlers, { beforeBody: () => deps.space.require() });
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield data;
}
