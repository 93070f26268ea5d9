import type { Authenticator } from '../access/authenticate.ts';
import type { Principal } from '../access/principal.ts';
import type { CompetingServers } from '../machines/presence/competing-servers.ts';
import type { Presence } from '../machines/presence/presence.ts';
import type { Watchdog } from '../watchdog/feature.ts';
import { type BrowserSession, secretHeader } from './browser-session.ts';
import { pageHeadersOf } from './own-pages.ts';

export interface AuthenticateCallDeps {
  readonly authenticator: Pick<Authenticator, 'principalOf'>;
  readonly browserSession: Pick<BrowserSession, 'tokenOf'>;
  readonly watchdog: Pick<Watchdog, 'admit'>;
  readonly presence: Pick<Presence, 'saw'>;
  readonly competing: Pick<CompetingServers, 'saw'>;
}

type CallHead = { readonly metadata: Headers };

/** Authenticates a call. A part's own call counts as contact, whatever it requests (D17). */
export function createAuthenticateCall(deps: AuthenticateCallDeps): (call: CallHead) => Promise<Principal> {
  const { authenticator, browserSession, watchdog, presence, competing } = deps;
  return async ({ metadata }) => {
    const session = metadata.has('authorization') ? undefined : browserSession.tokenOf(sessionOf(metadata));
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

/** Browsers name the page with every POST, and calls are POST. */
function sessionOf(metadata: Headers): Parameters<BrowserSession['tokenOf']>[0] {
  const [cookies, secret] = [metadata.get('cookie') ?? '', metadata.get(secretHeader) ?? ''];
  return { cookies, secret, page: pageHeadersOf(metadata), isRead: false };
}
