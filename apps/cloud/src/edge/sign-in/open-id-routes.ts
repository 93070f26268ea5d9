/** Sends the browser to the OpenID provider and handles its return. */
import { PlatformError } from '@platform/base';
import { type OpenId, type OpenIdFlow, openIdCallbackPath } from '../../identity/sign-in/open-id.ts';
import { signInWithOpenId } from '../../identity/sign-in/sign-in-with-open-id.ts';
import { authorityOf } from '../http.ts';
import { enter } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { cookieOf, cookieText, type RequestContext, redirect, safePath } from './request-context.ts';

const flowCookie = 'platform_oidc';

export function openIdRoutes(deps: SignInDeps): Routes {
  const { identity, instanceKey } = deps;
  const { clock, publicUrl } = identity.deps;

  const openId = (): OpenId => {
    if (identity.openId !== undefined) return identity.openId;
    throw new PlatformError(
      'unimplemented',
      'OpenID Connect: expected PLATFORM_OIDC_ISSUER and PLATFORM_OIDC_CLIENT_ID in the environment of the cloud, found none',
    );
  };

  return {
    async 'GET /sign-in/oidc'(context) {
      const provider = openId();
      const next = safePath(context.url.searchParams.get('next'));
      // The provider returns people to the public address, so the cookie must be set there.
      const home = new URL(publicUrl());
      if (authorityOf(context.request) !== home.host && context.url.searchParams.get('home') === null)
        return redirect(context, `${home.origin}/sign-in/oidc?home=1&next=${encodeURIComponent(next)}`);
      const { location, flow } = await provider.begin(next, clock.now());
      const sealed = Buffer.from(instanceKey.encrypt(JSON.stringify(flow))).toString('base64url');
      redirect(context, location, [cookieText(context, flowCookie, sealed, 600)]);
    },
    async [`GET ${openIdCallbackPath}`](context) {
      const provider = openId();
      const flow = flowOf(context);
      const person = await provider.finish(context.url.searchParams, flow);
      enter(deps, context, await signInWithOpenId(identity.deps, person, context.peerAddress), safePath(flow.next));
    },
  };

  function flowOf(context: RequestContext): OpenIdFlow {
    const cookie = cookieOf(context.request, flowCookie) ?? '';
    let flow: OpenIdFlow | undefined;
    try {
      flow = cookie === '' ? undefined : JSON.parse(instanceKey.decrypt(Buffer.from(cookie, 'base64url')));
    } catch {
      // The cookie is forged or sealed with another instance key: ignore it.
      flow = undefined;
    }
    if (flow !== undefined && flow.expiresMs > clock.now()) return flow;
    throw new PlatformError(
      'unauthenticated',
      'OpenID Connect: expected a sign-in that began in this browser within the last 10 minutes, found none; start again',
    );
  }
}
