/**
 * Authenticates a plain HTTP request: by bearer token, by key id and key, by part id and secret (as used by machine-servers), or by the
 * session of a browser.
 */
import { unauthenticated } from '@platform/base';
import type { Authenticator } from '../access/authenticate.ts';
import type { Principal } from '../access/principal.ts';
import type { HttpRequest } from '../wire/route.ts';
import { headerOf } from './http.ts';
import type { SignIn } from './sign-in/sign-in.ts';

/** @throws unauthenticated if there are no credentials or they are invalid; resource_exhausted after too many guesses */
export async function principalOfRequest(
  deps: {
    readonly authenticator: Pick<Authenticator, 'principalOf' | 'principalOfKey' | 'principalOfToken' | 'signIn'>;
    readonly signIn: Pick<SignIn, 'principalOf' | 'guesserOf'>;
  },
  request: HttpRequest,
): Promise<Principal> {
  const { authenticator, signIn } = deps;
  const authorization = headerOf(request, 'authorization');
  if (authorization !== '') return authenticator.principalOf(new Headers({ authorization }));
  const keyId = headerOf(request, 'key_id');
  if (keyId !== '') return authenticator.principalOfKey(keyId, headerOf(request, 'key'), signIn.guesserOf(request));
  const partId = headerOf(request, 'part_id');
  if (partId !== '') {
    const credentials = { entity: partId, type: 'robot-secret', payload: headerOf(request, 'secret') };
    return authenticator.principalOfToken(await authenticator.signIn(credentials, signIn.guesserOf(request)));
  }
  const principal = await signIn.principalOf(request);
  if (principal !== undefined) return principal;
  throw unauthenticated(
    'expected "authorization: Bearer <token>", the headers key_id and key or part_id and secret, or the session of a signed-in browser, found none of these',
  );
}
