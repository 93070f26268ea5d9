/** Sends the headers of a response before there is anything to say in it. */
import type { NodeResponse } from './node-types.ts';

/** Without effect when they are sent already, or no one is there any more. Whoever writes the response later may give them again. */
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
