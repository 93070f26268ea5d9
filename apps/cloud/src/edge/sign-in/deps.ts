/** Dependencies of the sign-in routes. */
import type { Log } from '@platform/base';
import type { Principal } from '../../access/principal.ts';
import type { Identity } from '../../identity/feature.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { BrowserSession } from '../browser-session.ts';
import type { RequestContext } from './request-context.ts';

export interface SignInDeps {
  readonly identity: Identity;
  readonly instanceKey: InstanceKey;
  readonly browserSession: BrowserSession;
  readonly log: Log;
  /** How the host administrator starts the command line, for hints. */
  readonly command: string;
  /** The principal behind an access token. @throws unauthenticated */
  principalOfToken(token: string): Promise<Principal>;
}

/** Keyed by method and path, such as `POST /sign-in`. */
export type Routes = Readonly<Record<string, (context: RequestContext) => Promise<void>>>;
