/** Sends the browser to the OpenID provider and handles its return. */
import { unauthenticated, unimplemented } from '@platform/base';
import { type OpenId, type OpenIdFlow, openIdCallbackPath } from '../../identity/sign-in/open-id.ts';
import { signInWithOpenId } from '../../identity/sign-in/sign-in-with-open-id.ts';
import { html } from '../../text-rules/html.ts';
import { cookieNamed } from '../browser-session.ts';
import { authorityOf, headerOf } from '../http.ts';
import { enter } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { sendPage } from './page.ts';
import { cookieText, type RequestContext, redirect, safePath } from './request-context.ts';

/** A sign-in in progress, sealed in a cookie. */
interface Begun extends OpenIdFlow {
  /** See page-script.ts. */
  readonly begun: string;
}

export function openIdRoutes(deps: SignInDeps): Routes {
  const { identity, instanceKey } = deps;
  const { clock, publicUrl } = identity.deps;

  const openId = (): OpenId => {
    if (identity.openId !== undefined) return identity.openId;
    throw unimplemented(
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
      const begun = context.url.searchParams.get('begun');
      if (begun === null)
        return sendPage(context.response, {
          title: 'Sign in',
          step: 'follow',
          body: html`<h1>Sign in</h1><a class="button" href="/sign-in/oidc?home=1&next=${encodeURIComponent(next)}">Continue with OpenID Connect</a>`,
        });
      const { location, flow } = await provider.begin(next, clock.now());
      const sealed = Buffer.from(
        instanceKey.encrypt(JSON.stringify({ ...flow, begun: begun.slice(0, 100) } satisfies Begun)),
      ).toString('base64url');
      redirect(context, location, [cookieText(deps, 'oidc', sealed, 600)]);
    },
    async [`GET ${openIdCallbackPath}`](context) {
      const provider = openId();
      const flow = flowOf(context);
      const person = await provider.finish(context.url.searchParams, flow);
      const session = await signInWithOpenId(identity.deps, person, context.peerAddress);
      enter(deps, context, session, safePath(flow.next), flow.begun);
    },
  };

  function flowOf({ request }: RequestContext): Begun {
    const cookie = cookieNamed(headerOf(request, 'cookie'), deps.browserSession.cookieName('oidc')) ?? '';
    let flow: Begun | undefined;
    try {
      flow = cookie === '' ? undefined : JSON.parse(instanceKey.decrypt(Buffer.from(cookie, 'base64url')));
    } catch {
      // The cookie is forged or sealed with another instance key: ignore it.
      flow = undefined;
    }
    if (flow !== undefined && flow.expiresMs > clock.now()) return flow;
    throw unauthenticated(
      'OpenID Connect: expected a sign-in that began in this browser within the last 10 minutes, found none; start again',
    );
  }
}
