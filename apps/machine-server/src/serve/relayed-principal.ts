/**
 * Callers that the cloud passes on. The cloud has checked who they are and what they may do, and it alone can write to the link; so its
 * headers are trusted on that link, and ignored everywhere else.
 */
import type { Log } from '@platform/base';
import type { Call } from '@platform/rpc/server';
import type { Principal } from './authenticate.ts';

/** @param log gets a line for each call: `info` for those that move or change something, `debug` for reads */
export function relayedPrincipal({ method, metadata }: Call, log: Log): Principal {
  const caller = metadata.get('platform-caller') ?? '';
  const name = decodeName(metadata.get('platform-caller-name') ?? '');
  const level = metadata.get('platform-access') === 'read' ? 'debug' : 'info';
  log[level]('called through the cloud', { method: method.replace(/^.*\./, ''), caller, ...(name !== '' && { name }) });
  return { entity: `cloud:${caller}` };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
