/** Who may read what in the test inbox, which holds messages of all organizations. */
import type { Access } from '../access/authorize.ts';
import { grantsOf, type Principal } from '../access/principal.ts';
import type { StoredRequest } from '../test-inbox/feature.ts';
import type { HttpRequest } from '../wire/route.ts';
import { principalOfRequest } from './principal-of-request.ts';
import type { SignIn } from './sign-in/sign-in.ts';

export type SeesRequest = (request: Pick<StoredRequest, 'headers'>) => boolean;

export interface TestInboxAccessDeps {
  readonly authenticator: Parameters<typeof principalOfRequest>[0]['authenticator'];
  readonly signIn: Pick<SignIn, 'principalOf' | 'guesserOf'>;
  readonly access: Pick<Access, 'ownsAll' | 'allows'>;
  /** Undefined: no demo is running. */
  readonly demoKeyId: () => string | undefined;
}

/** What the sender of a request may read; undefined: nothing. The demo may read its own messages, although its key owns nothing. */
export async function testInboxReader(
  deps: TestInboxAccessDeps,
  request: HttpRequest,
): Promise<SeesRequest | undefined> {
  const caller = await principalOfRequest(deps, request).catch(() => undefined);
  if (caller === undefined) return undefined;
  const { access } = deps;
  const isDemo = caller.kind === 'key' && caller.keyId === deps.demoKeyId();
  const owns = ({ organizationId }: { readonly organizationId: string }): boolean =>
    access.allows(caller, 'organization.manage', organizationId);
  if (!isDemo && !access.ownsAll(caller) && !grantsOf(caller).some(owns)) return undefined;
  return seenInTestInbox(access, caller, isDemo ? 'organization.read' : 'organization.manage');
}

/**
 * Webhooks name their organization in the header Org-Id. Anyone may post to the inbox, so messages that name none are for those who own
 * all.
 * @param action that the reader must be allowed on the organization
 */
export function seenInTestInbox(
  access: Pick<Access, 'ownsAll' | 'allows'>,
  principal: Principal,
  action: 'organization.read' | 'organization.manage' = 'organization.manage',
): SeesRequest {
  if (access.ownsAll(principal)) return () => true;
  return ({ headers }) => {
    const [, organizationId = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'org-id') ?? [];
    return access.allows(principal, action, organizationId);
  };
}
