/** Checks whether a webhook would be refused, before anything is sent, for people who save a trigger (D23). */
import { lookup } from 'node:dns/promises';
import { asPlatformError, type Clock } from '@platform/base';
import { checkTarget, type Resolve, type TargetPolicy } from './target-guard.ts';

/** Saving a trigger waits no longer for a name server. */
const maxWaitMs = 1_000;

/**
 * @returns why a webhook of this organization to this URL would be refused now. Undefined: it would be sent, or this is unknown, because the URL is invalid or
 * its name has no address at the moment. The address at the time of each attempt is what decides.
 */
export async function targetRefusal(
  text: string,
  policy: TargetPolicy,
  organizationId: string,
  clock: Clock,
): Promise<string | undefined> {
  try {
    const { url, own, lookup: resolveChecked } = checkTarget(text, policy, organizationId);
    if (own) return undefined;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const resolved = Promise.withResolvers<void>();
    resolveChecked(host, { all: true }, (caught) => (caught === null ? resolved.resolve() : resolved.reject(caught)));
    using _deadline = clock.after(maxWaitMs, () => resolved.resolve());
    await resolved.promise;
    return undefined;
  } catch (caught) {
    const { code, message } = asPlatformError(caught);
    return code === 'permission_denied' ? message : undefined;
  }
}

/** Asks the name service of the system. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });
