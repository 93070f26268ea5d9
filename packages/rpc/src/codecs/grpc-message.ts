/** The text of a gRPC status on the wire. */
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';

/** Percent-encodes only what the protocol requires: some clients decode only that, and would show `%2C` for a comma. */
export function encodeGrpcMessage(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]+/gu, (part) =>
    Array.from(new TextEncoder().encode(part), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
      '',
    ),
  );
}

/** Clients refuse a call whose trailers exceed 8 KiB in total; the code would be lost along with the text. */
const maxEncodedLength = 6_000;

/** Encodes a text, cut to the length that clients accept; a cut text ends in an ellipsis. */
export function fittingGrpcMessage(text: string): string {
  const encoded = encodeGrpcMessage(text);
  if (encoded.length <= maxEncodedLength) return encoded;
  // Up to the last whole character: each of its bytes after the first is %80 to %BF.
  const cut = encoded.slice(0, maxEncodedLength).replace(/%[0-9A-F]?$/, '');
  return `${cut.replace(/(%[C-F][0-9A-F])?(%[89AB][0-9A-F])*$/, '')}${encodeGrpcMessage('…')}`;
}

/** The response, with the status text in its trailer encoded in this way. */
export function withReadableStatus(response: UniversalServerResponse): UniversalServerResponse {
  const { trailer, body } = response;
  if (trailer === undefined || body === undefined) return response;
  return { ...response, body: thenRespell(body, trailer) };
}

async function* thenRespell(body: AsyncIterable<Uint8Array>, trailer: Headers): AsyncGenerator<Uint8Array, void> {
  yield* body;
  const message = trailer.get('grpc-message');
  if (message !== null) trailer.set('grpc-message', fittingGrpcMessage(decodeURIComponent(message)));
}
