import { once } from 'node:events';
import { connect } from 'node:http2';

export interface UnarySession extends Disposable {
  /** @param path `/package.Service/Method`. Returns the message's bytes; throws the server's error. */
  call(path: string, message: Uint8Array, accessToken?: string): Promise<Uint8Array>;
}

/** One connection for unary gRPC calls with a minimal client: ten thousand of them fit into a few processes. */
export async function openUnarySession(url: string): Promise<UnarySession> {
  const session = connect(url);
  await once(session, 'connect');
  // Calls in flight fail by themselves.
  session.on('error', () => {});
  return {
    call: (path, message, accessToken) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': path,
          'content-type': 'application/grpc',
          te: 'trailers',
          ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
        });
        let status: string | undefined;
        let text = '';
        const chunks: Buffer[] = [];
        const note = (headers: Readonly<Record<string, unknown>>): void => {
          if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status']);
          text = decodeURIComponent(String(headers['grpc-message'] ?? text));
        };
        stream.on('response', note);
        stream.on('trailers', note);
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('error', reject);
        stream.on('close', () => {
          // The message follows a frame header of five bytes.
          if (status === '0') resolve(Buffer.concat(chunks).subarray(5));
          else reject(new Error(`${path}: expected grpc-status 0, found ${status ?? 'none'} ${text}`));
        });
        const head = Buffer.alloc(5);
        head.writeUInt32BE(message.length, 1);
        stream.end(Buffer.concat([head, message]));
      }),
    [Symbol.dispose]: () => session.destroy(),
  };
}

export interface Uploader extends Disposable {
  /** Sends one encoded DataCaptureUploadRequest as a unary gRPC call; resolves when it is acknowledged, otherwise throws. */
  upload(message: Uint8Array): Promise<void>;
}

const path = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';

/** Over one connection with the same minimal client, which leaves the CPU to the cloud. */
export async function openUploader(url: string, accessToken: string): Promise<Uploader> {
  const session = await openUnarySession(url);
  return {
    upload: async (message) => void (await session.call(path, message, accessToken)),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  };
}
