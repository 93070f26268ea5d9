/** Reads the addresses of STUN and TURN servers, and says which of them this engine cannot use. */
import type { IceServer } from '../peer.ts';
import type { NativeIceServer } from './frames.ts';

/** The library asks one STUN server and two TURN servers. */
const maxServers = 8;

/** @param skipped called with each address that is not used, and why */
export function nativeServers(
  servers: readonly IceServer[],
  skipped: (url: string, reason: string) => void,
): NativeIceServer[] {
  const found = servers.flatMap(({ urls, username, credential }) =>
    urls.flatMap((url) => {
      const server = readUrl(url, username, credential);
      if (typeof server !== 'string') return [server];
      skipped(url, server);
      return [];
    }),
  );
  return found.slice(0, maxServers);
}

/** @returns why it is not used, if it is not */
function readUrl(url: string, username?: string, credential?: string): NativeIceServer | string {
  const form = /^(stuns?|turns?):(\[[\da-f:.]+\]|[^:?[\]/@\s]+)(?::(\d{1,5}))?(?:\?transport=(\w+))?$/i;
  const [, scheme = '', host = '', port = '3478', transport = 'udp'] = form.exec(url) ?? [];
  if (scheme === '' || Number(port) > 65_535) return 'expected stun:host:port or turn:host:port?transport=udp';
  if (scheme.toLowerCase().endsWith('s') || transport.toLowerCase() !== 'udp')
    return 'this engine reaches servers only over UDP';
  const server = { hostname: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  if (scheme.toLowerCase() === 'stun') return server;
  if (!username || !credential) return 'a TURN server needs username and credential';
  return { ...server, user: { username, password: credential } };
}
