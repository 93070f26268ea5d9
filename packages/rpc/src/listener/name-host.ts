/** The address that the client dialled, for both versions of HTTP: HTTP/2 sends it as the pseudo header `:authority`. */
import type { IncomingHttpHeaders } from 'node:http2';

/** Sets `host` of a call's metadata; leaves it unset if the client sent neither. */
export function nameHost(metadata: Headers, headers: IncomingHttpHeaders): void {
  const host = headers[':authority'] ?? headers['host'];
  if (typeof host === 'string' && host !== '') metadata.set('host', host);
}
