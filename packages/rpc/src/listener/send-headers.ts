/** Sends the headers of a response before its first content is known. */
import type { NodeResponse } from './node-types.ts';

/** Has no effect if they are already sent or the client is gone. Whoever writes the response later may set them again. */
export function sendHeaders(response: NodeResponse, headers: Headers): void {
  if (response.headersSent || response.destroyed) return;
  const fields = Object.fromEntries(headers);
  if ('stream' in response) {
    const { stream } = response;
    if (stream.destroyed || stream.closed) return;
    response.writeHead(200, fields);
    // Node has it; its types do not.
    (response as typeof response & { flushHeaders(): void }).flushHeaders();
    response.writeHead = () => response;
  } else {
    response.writeHead(200, fields);
    response.flushHeaders();
    response.writeHead = () => response;
  }
}
