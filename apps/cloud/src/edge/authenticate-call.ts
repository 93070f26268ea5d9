import type { ServiceBinding } from '@platform/rpc/server';
import type { Authenticator } from '../access/authenticate.ts';
import type { Principal } from '../access/principal.ts';
import type { CompetingServers } from '../machines/presence/competing-servers.ts';
import type { Presence } from '../machines/presence/presence.ts';
import type { Watchdog } from '../watchdog/feature.ts';
import { sessionOfCall } from './session-of-call.ts';

export interface AuthenticateCallDeps {
  readonly authenticator: Pick<Authenticator, 'principalOf'>;
  readonly watchdog: Pick<Watchdog, 'admit'>;
  readonly presence: Pick<Presence, 'attend' | 'saw'>;
  readonly competing: Pick<CompetingServers, 'saw'>;
  readonly services: readonly ServiceBinding<Principal>[];
}

type CallHead = { readonly method: string; readonly metadata: Headers; readonly signal: AbortSignal };

/** Authenticates a call. A part's own call counts as contact, whatever it requests; a stream counts while it is open (D17). */
export function createAuthenticateCall(deps: AuthenticateCallDeps): (call: CallHead) => Promise<Principal> {
  const { authenticator, watchdog, presence, competing, services } = deps;
  const methods = services.flatMap((service) => service.methods);
  const streaming = new Set(methods.filter(({ kind }) => kind !== 'unary').map(({ path }) => path));
  return async ({ method, metadata, signal }) => {
    const session = metadata.has('authorization') ? undefined : sessionOfCall(metadata);
    // An open stream is checked again by its metadata.
    if (session !== undefined) metadata.set('authorization', `Bearer ${session}`);
    const principal = await authenticator.principalOf(metadata);
    watchdog.admit(principal);
    if (principal.kind !== 'part') return principal;
    if (streaming.has(method)) presence.attend(principal.partId, signal);
    else presence.saw(principal.partId);
    competing.saw(principal.partId, metadata.get('user-agent') ?? '');
    return principal;
  };
}
