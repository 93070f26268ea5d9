import type { Access } from '../access/authorize.ts';
import type { HttpRequest } from './http.ts';
import { principalOfRequest } from './principal-of-request.ts';
import type { SignIn } from './sign-in/sign-in.ts';

export interface TestInboxAccessDeps {
  readonly authenticator: Parameters<typeof principalOfRequest>[0]['authenticator'];
  readonly signIn: Pick<SignIn, 'principalOf'>;
  readonly access: Pick<Access, 'ownsAll'>;
  /** Undefined: no demo is running. */
  readonly demoKeyId: () => string | undefined;
}

/**
 * Whether a request may read the test inbox. It holds messages of all organizations, so only callers who own all of them may read it,
 * and the demo, which shows its own messages.
 */
export async function mayReadTestInbox(deps: TestInboxAccessDeps, request: HttpRequest): Promise<boolean> {
  return principalOfRequest(deps, request).then(
    (caller) => deps.access.ownsAll(caller) || (caller.kind === 'key' && caller.keyId === deps.demoKeyId()),
    () => false,
  );
}
