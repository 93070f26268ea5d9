import type { Access } from '../access/authorize.ts';
import type { HttpRequest } from './http.ts';
import { principalOfRequest } from './principal-of-request.ts';
import type { SignIn } from './sign-in/sign-in.ts';

export interface TestInboxAccessDeps {
  readonly authenticator: Parameters<typeof principalOfRequest>[0]['authenticator'];
  readonly signIn: Pick<SignIn, 'principalOf'>;
  readonly access: Pick<Access, 'ownsAll'>;
  /** Undefined: no demo runs. */
  readonly demoKeyId: () => string | undefined;
}

/**
 * Whether a request may read what the test inbox caught. That is of all organizations: only who owns all of them may, and the demo,
 * which shows its own.
 */
export async function mayReadTestInbox(deps: TestInboxAccessDeps, request: HttpRequest): Promise<boolean> {
  return principalOfRequest(deps, request).then(
    (caller) => deps.access.ownsAll(caller) || (caller.kind === 'key' && caller.keyId === deps.demoKeyId()),
    () => false,
  );
}
