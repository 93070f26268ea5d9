/// <reference path="./oidc-provider.d.ts" />
/** A real OpenID Connect provider on this computer; the test sets who signs in, without a password. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface ProvidedPerson {
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
}

export interface OpenIdProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Sets who is signed in at the provider from now on; undefined: every sign-in is refused. */
  signInAs(person: ProvidedPerson | undefined): void;
}

/** Its only client may use any loopback address. */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const clientId = 'platform';
  const clientSecret = randomBytes(24).toString('base64url');
  const people = new Map<string, ProvidedPerson>();
  let current: ProvidedPerson | undefined;

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: ['http://127.0.0.1/'],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'test' }] },
    cookies: { keys: [randomBytes(24).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Interaction: 600, Session: 600, Grant: 600 },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    async findAccount(_context: unknown, subject: string) {
      const person = people.get(subject);
      return (
        person && {
          accountId: subject,
          claims: async () => ({
            sub: subject,
            email: person.email,
            email_verified: person.emailVerified,
            name: person.name,
          }),
        }
      );
    },
    async loadExistingGrant(context: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const { client, session } = context.oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.Client.prototype.redirectUriAllowed = (uri) => new URL(uri).hostname === '127.0.0.1';
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
    const result =
      current === undefined
        ? { error: 'access_denied', error_description: 'refused by the test' }
        : { login: { accountId: current.subject, remember: false } };
    provider.interactionFinished(request, response, result).catch((caught: unknown) => {
      response.writeHead(500).end(String(caught));
    });
  });

  return {
    issuer,
    clientId,
    clientSecret,
    signInAs(person) {
      current = person;
      if (person !== undefined) people.set(person.subject, person);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
