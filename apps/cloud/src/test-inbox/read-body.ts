import { PlatformError } from '@platform/base';

/** The body as text. Throws resource_exhausted when it is longer; what follows is read and dropped, so that the answer arrives. */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // A sender that never ends is cut off by the socket's end, at ten times the limit.
    if (bytes > 10 * maxBytes) break;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes)
    throw new PlatformError('resource_exhausted', `expected a body of at most ${maxBytes} bytes, found more`);
  return Buffer.concat(chunks).toString('utf8');
}
