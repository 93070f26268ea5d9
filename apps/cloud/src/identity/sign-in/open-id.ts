/** The OpenID Connect client: authorization code with PKCE, state and nonce, against one provider. */
import { errorText, ownFault, unauthenticated } from '@platform/base';
import type { Configuration } from 'openid-client';

export interface OpenIdSettings {
  /** Such as `https://accounts.example.com`; plain http only on this computer. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What the browser keeps, sealed, while the person is at the provider. */
export interface OpenIdFlow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path on this cloud to open afterwards. */
  readonly next: string;
  readonly expiresMs: number;
}

export interface OpenIdPerson {
  readonly issuer: string;
  readonly subject: string;
  /** Present only if the provider reports it as verified. */
  readonly verifiedEmail: string | undefined;
  readonly name: string;
}

export interface OpenId {
  /** Returns the provider's address to open, and what to keep. @throws unavailable if the provider does not answer */
  begin(next: string, nowMs: number): Promise<{ location: string; flow: OpenIdFlow }>;
  /**
   * The person who returned.
   * @param query of the request that returned.
   * @throws unauthenticated with the reason why the provider's answer is not accepted
   */
  finish(query: URLSearchParams, flow: OpenIdFlow): Promise<OpenIdPerson>;
}

export const openIdCallbackPath = '/sign-in/oidc/callback';
const flowMs = 600_000;
const timeoutSeconds = 10;

// Loaded at the first sign-in of this kind: most installations never need it.
const client = (): Promise<typeof import('openid-client')> => import('openid-client');

export function createOpenId(deps: { settings: OpenIdSettings; publicUrl: () => string }): OpenId {
  const { settings, publicUrl } = deps;
  let discovered: Promise<Configuration> | undefined;
  const configuration = (): Promise<Configuration> => {
    discovered ??= discover(settings).catch((caught: unknown) => {
      // The next sign-in tries again.
      discovered = undefined;
      const message = `OpenID Connect: ${settings.issuer} does not answer like a provider; try again later`;
      throw ownFault('unavailable', message, errorText(caught), caught);
    });
    return discovered;
  };
  return {
    async begin(next, nowMs) {
      const config = await configuration();
      const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
        await client();
      const flow = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        next,
        expiresMs: nowMs + flowMs,
      };
      const location = buildAuthorizationUrl(config, {
        redirect_uri: publicUrl() + openIdCallbackPath,
        scope: 'openid email profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      });
      return { location: location.href, flow };
    },
    async finish(query, flow) {
      const config = await configuration();
      const { authorizationCodeGrant, fetchUserInfo } = await client();
      try {
        const tokens = await authorizationCodeGrant(config, new URL(`${publicUrl()}${openIdCallbackPath}?${query}`), {
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          pkceCodeVerifier: flow.verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw unauthenticated('the provider sent no ID token');
        const asked = config.serverMetadata().userinfo_endpoint !== undefined && claims['email'] === undefined;
        const said = asked ? await fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
        const verified = said['email_verified'] === true || said['email_verified'] === 'true';
        return {
          issuer: claims.iss,
          subject: claims.sub,
          verifiedEmail: verified ? textOf(said['email']) : undefined,
          name: textOf(said['name']) ?? '',
        };
      } catch (caught) {
        throw unauthenticated(
          `OpenID Connect: expected the answer of ${settings.issuer} to this browser's request, found another: ${errorText(caught).slice(0, 300)}`,
          caught,
        );
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<Configuration> {
  const url = new URL(issuer);
  const insecure = url.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  const { allowInsecureRequests, discovery } = await client();
  return discovery(url, clientId, clientSecret, undefined, {
    timeout: timeoutSeconds,
    ...(insecure && { execute: [allowInsecureRequests] }),
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
