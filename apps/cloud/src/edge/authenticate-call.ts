import type { Authenticator } from '../access/authenticate.ts';
import type { Principal } from '../access/principal.ts';
import type { CompetingServers } from '../machines/presence/competing-servers.ts';
import type { Presence } from '../machines/presence/presence.ts';
import type { Watchdog } from '../watchdog/feature.ts';
import { sessionOfCall } from './session-of-call.ts';

export interface AuthenticateCallDeps {
  readonly authenticator: Pick<Authenticator, 'principalOf'>;
  readonly watchdog: Pick<Watchdog, 'admit'>;
  readonly presence: Pick<Presence, 'saw'>;
  readonly competing: Pick<CompetingServers, 'saw'>;
}

type CallHead = { readonly metadata: Headers };

/** Authenticates a call. A part's own call counts as contact, whatever it requests (D17). */
export function createAuthenticateCall(deps: AuthenticateCallDeps): (call: CallHead) => Promise<Principal> {
  const { authenticator, watchdog, presence, competing } = deps;
  return async ({ metadata }) => {
    const session = metadata.has('authorization') ? undefined : sessionOfCall(metadata);
    // An open stream is checked again by its metadata.
    if (session !== undefined) metadata.set('authorization', `Bearer ${session}`);
    const principal = await authenticator.principalOf(metadata);
    watchdog.admit(principal);
    if (principal.kind !== 'part') return principal;
    presence.saw(principal.partId);
    competing.saw(principal.partId, metadata.get('user-agent') ?? '');
    return principal;
  };
}
