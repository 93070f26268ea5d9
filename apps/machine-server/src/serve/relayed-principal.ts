/**
 * Callers whose calls the cloud passes on. The cloud has checked their identity and permissions, and only it can write to the link; so its
 * headers are trusted on that link, and ignored everywhere else.
 */
import { failedPrecondition, type Log, uriDecoded } from '@platform/base';
import type { Call } from '@platform/rpc/server';
import type { Principal } from './authenticate.ts';

/** @param log gets a line for each call: `info` for those that move or change something, `debug` for reads */
export function relayedPrincipal({ method, metadata }: Call, log: Log): Principal {
  const caller = metadata.get('platform-caller') ?? '';
  const name = uriDecoded(metadata.get('platform-caller-name') ?? '');
  const level = metadata.get('platform-access') === 'read' ? 'debug' : 'info';
  log[level]('called through the cloud', { method: method.replace(/^.*\./, ''), caller, ...(name !== '' && { name }) });
  return { entity: `cloud:${caller}` };
}

/**
 * The cloud cannot read the requests of types that only a module knows. A header names the resource in its audit trail; a call to another
 * resource is refused, so that the trail is correct. @throws failed_precondition
 */
export function requireAudited({ metadata }: Pick<Call, 'metadata'>, name: string): void {
  const given = metadata.get('platform-resource');
  if (given === null || uriDecoded(given) === name) return;
  throw failedPrecondition(
    `the audit trail of the cloud has the resource ${JSON.stringify(uriDecoded(given))} for this call, but its request names ${JSON.stringify(name)}: send the header platform-resource with that name, in URI encoding`,
  );
}
