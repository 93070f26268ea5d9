import type { DescService } from '@bufbuild/protobuf';
import type { FileUploadRequest } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Client, Link } from '@platform/rpc/client';

/** Handles the contents of a file as a cloud; if it throws, the call fails with that error. */
export type FileReceiver = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

/** A link to a cloud that accepts only files. As on a real one, the call ends when its signal is aborted. */
export function fakeLink(receive: FileReceiver): Pick<Link, 'client'> {
  async function* contents(requests: AsyncIterable<FileUploadRequest>): AsyncGenerator<Uint8Array> {
    for await (const { uploadPacket } of requests)
      if (uploadPacket.case === 'fileContents') yield uploadPacket.value.data;
  }
  const fileUpload = (
    requests: AsyncIterable<FileUploadRequest>,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<unknown> => {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason));
    return Promise.race([receive(contents(requests)), promise]);
  };
  return { client: <S extends DescService>(_service: S) => ({ fileUpload }) as unknown as Client<S> };
}
