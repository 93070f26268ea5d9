import { resourceExhausted } from '@platform/base';

/** The cause of that error: plain HTTP answers it with 413, and other exhausted limits with 429. */
export class BodyTooLarge extends Error {}

/** The body as text. Throws resource_exhausted if it is too long; the rest is then read and discarded, so that the answer arrives. */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // An endless body is cut off at ten times the limit, which ends the connection.
    if (bytes > 10 * maxBytes) break;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes)
    throw resourceExhausted(`expected a body of at most ${maxBytes} bytes, found more`, new BodyTooLarge());
  return Buffer.concat(chunks).toString('utf8');
}
