import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';

export interface Uploader extends Disposable {
  /** Sends one encoded DataCaptureUploadRequest as a unary gRPC call; resolves when it is acknowledged, otherwise throws. */
  upload(message: Uint8Array): Promise<void>;
}

const path = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';

/** A minimal gRPC client, so that the generator leaves the CPU to the cloud. */
export async function openUploader(url: string, accessToken: string): Promise<Uploader> {
  const session = connect(url, { settings: { initialWindowSize: 4 * 1024 * 1024 } });
  await once(session, 'connect');
  return {
    upload: (message) => uploadOnce(session, accessToken, message),
    [Symbol.dispose]: () => session.destroy(),
  };
}

function uploadOnce(session: ClientHttp2Session, accessToken: string, message: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${accessToken}`,
    });
    let status: string | undefined;
    let text = '';
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status']);
      text = decodeURIComponent(String(headers['grpc-message'] ?? text));
    };
    call.on('response', note);
    call.on('trailers', note);
    call.on('error', reject);
    call.on('close', () => {
      if (status === '0') resolve();
      else reject(new Error(`upload: expected grpc-status 0, found ${status ?? 'none'} ${text}`));
    });
    call.resume();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    call.write(head);
    call.end(message);
  });
}
