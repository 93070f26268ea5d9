/** AuthService: exchanges credentials for a token. */
import { invalidArgument } from '@platform/base';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { type Call, serve } from '@platform/rpc/server';
import type { Authenticator } from './authenticate.ts';
import type { CloudBinding, CloudHandlers } from './principal.ts';
import { retryAfterHeader } from './too-many-guesses.ts';

/** @param guesserOf the address to which a failed attempt is counted */
export function authBinding(
  authenticator: Authenticator,
  guesserOf: (call: Pick<Call, 'metadata' | 'peerAddress'>) => string,
): CloudBinding {
  const handlers: CloudHandlers<typeof AuthService> = {
    async authenticate(request, call) {
      if (call.metadata.has('authorization')) {
        throw invalidArgument(
          'Authenticate: expected no authorization header, found one: this call itself returns a token',
        );
      }
      const { type = '', payload = '' } = request.credentials ?? {};
      try {
        const token = await authenticator.signIn({ entity: request.entity, type, payload }, guesserOf(call));
        return { accessToken: token };
      } catch (caught) {
        for (const [name, value] of Object.entries(retryAfterHeader(caught))) call.responseHeaders.set(name, value);
        throw caught;
      }
    },
  };
  return serve(AuthService, handlers);
}
