import { encodeGrpcMessage } from '../../codecs/grpc-message.ts';

/**
 * Makes the text of a status one that can be decoded: some servers send texts that are not percent-encoded, or are only in part, for which
 * Connect would throw an error without the status.
 */
export function makeStatusReadable(headers: Headers): void {
  const text = headers.get('grpc-message');
  if (text === null) return;
  try {
    decodeURIComponent(text);
  } catch {
    headers.set('grpc-message', encodeGrpcMessage(text));
  }
}
