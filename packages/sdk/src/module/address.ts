/** The address of a module or its machine-server: a Unix socket, or a port of this computer. */
import { invalidArgument } from '@platform/base';

export type Address =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly host: string; readonly port: number };

/**
 * @param text the path of a socket, with or without `unix:` or `unix://` before it, or `host:port`.
 * @throws invalid_argument
 */
export function parseAddress(text: string): Address {
  const path = text.replace(/^unix:(\/\/(?=\/))?/, '');
  if (path !== text || text.startsWith('/') || text.startsWith('./')) return { kind: 'socket', path };
  const [, host = '', port = ''] = /^(?:tcp:\/\/|http:\/\/)?(\[[^\]]+\]|[^:/]+):(\d{1,5})$/.exec(text) ?? [];
  if (host !== '' && Number(port) <= 65_535) return { kind: 'port', host, port: Number(port) };
  throw invalidArgument(
    `expected the path of a socket (/run/module.sock) or 127.0.0.1:port as address, found ${JSON.stringify(text)}`,
  );
}
