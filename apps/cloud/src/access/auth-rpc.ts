/** AuthService: credentials to token. */
import { PlatformError } from '@platform/base';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { type ServiceBinding, serve } from '@platform/rpc/server';
import type { Authenticator } from './authenticate.ts';
import type { Principal } from './principal.ts';
import { retryAfterSeconds } from './too-many-guesses.ts';

export function authBinding(authenticator: Authenticator): ServiceBinding<Principal> {
  return serve(AuthService, {
    async authenticate(request, call) {
      if (call.metadata.has('authorization')) {
        throw new PlatformError(
          'invalid_argument',
          'Authenticate: expected no authorization header, found one: this call is what returns a token',
        );
      }
      const { type = '', payload = '' } = request.credentials ?? {};
      try {
        const token = await authenticator.signIn({ entity: request.entity, type, payload }, call.peerAddress);
        return { accessToken: token };
      } catch (caught) {
        const seconds = retryAfterSeconds(caught);
        if (seconds !== undefined) call.responseHeaders.set('retry-after', String(seconds));
        throw caught;
      }
    },
  });
}
