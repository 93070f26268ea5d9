/** Signing in and out in the browser: password, one-time links, forgotten password. */
import { errorText } from '@platform/base';
import { tooManyGuesses } from '../../access/too-many-guesses.ts';
import { endSession } from '../../identity/account.ts';
import { signInWithPassword } from '../../identity/sign-in/sign-in-with-password.ts';
import { checkResetLink, mailResetLink, resetPassword, signInWithLink } from '../../identity/sign-in/use-link.ts';
import { normalEmail } from '../../text-rules/checked-email.ts';
import { type Html, html } from '../../text-rules/html.ts';
import type { HttpRequest } from '../../wire/route.ts';
import { headerOf, sendHtml, sendJson, sendText } from '../http.ts';
import { answerForm, enter, enteredPath, type Fields, formFields, signedOut } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { needsScript, type Page, sendPage } from './page.ts';
import { type RequestContext, requireCaller, requireForm, safePath } from './request-context.ts';

export function signInRoutes(deps: SignInDeps): Routes {
  const { identity } = deps;
  const people = identity.deps;

  const signInPage = (next: string, problem?: Html, email = ''): Page => ({
    title: 'Sign in',
    step: 'sign-in',
    next,
    body: html`<h1>Sign in</h1>${needsScript}${problem}
<form method="post" action="/sign-in">${formFields}<input type="hidden" name="next" value="${next}">
<label for="email">E-mail</label><input id="email" name="email" type="email" autocomplete="username" required value="${email}"${email === '' && html` autofocus`}>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required${email !== '' && html` autofocus`}>
<button type="submit">Sign in</button></form>
${identity.openId && html`<div class="or">or</div><a class="button second" href="/sign-in/oidc?next=${encodeURIComponent(next)}">Continue with OpenID Connect</a>`}
${
  people.mail === undefined
    ? html`<p class="quiet">No account yet, or no password? On a first start, open the sign-in link that the cloud printed in its terminal; later, ask the person who runs this installation.</p>`
    : html`<details><summary>Forgot your password?</summary><form method="post" action="/sign-in/link">${formFields}
<label for="forgotten">E-mail</label><input id="forgotten" name="email" type="email" autocomplete="username" required><button class="second" type="submit">Mail me a link</button></form></details>`
}`,
  });

  const linkPage = (token: string, problem?: Html): Page => ({
    title: 'Sign in',
    body: html`<h1>Sign in</h1>${needsScript}${problem ?? html`<p>This link signs you in. It works once.</p>`}
<form method="post" action="/sign-in">${formFields}<input type="hidden" name="token" value="${token}"><button type="submit">Sign in</button></form>${problem && html`<p class="quiet"><a href="/sign-in">Sign in with e-mail and password</a></p>`}`,
  });

  const resetPage = (token: string, problem?: Html): Page => ({
    title: 'Set a new password',
    body: html`<h1>Set a new password</h1><p class="quiet">You will be signed out everywhere else.</p>${problem}
<form method="post" action="/sign-in/reset">${formFields}<input type="hidden" name="token" value="${token}">
<label for="password">New password, at least 10 characters</label><input id="password" name="password" type="password" autocomplete="new-password" minlength="10" required autofocus>
<button type="submit">Set password</button></form>`,
  });

  return {
    async 'GET /sign-in'(context) {
      const token = context.url.searchParams.get('token');
      const next = safePath(context.url.searchParams.get('next'));
      // A link only shows a button: previews and other pages open links, too.
      sendPage(context.response, token === null ? signInPage(next) : linkPage(token));
    },
    'HEAD /sign-in': async (context) => sendHtml(context.response, 200, html``),
    async [`GET ${enteredPath}`](context) {
      const next = safePath(context.url.searchParams.get('next'));
      sendPage(context.response, {
        title: 'Sign in',
        step: 'enter',
        next,
        body: html`<h1>You are not signed in</h1>${needsScript}<p>This page completes a sign-in that began in this browser, at this address, and found none.</p><a class="button" href="/sign-in?next=${encodeURIComponent(next)}">Sign in</a>`,
      });
    },
    'POST /sign-in': (context) =>
      answerForm(
        deps,
        context,
        async (fields) => {
          const begun = fields.get('begun');
          const token = fields.get('token');
          if (token !== null)
            return enter(deps, context, await signInWithLink(people, token, context.peerAddress), '/', begun);
          const given = { email: fields.get('email') ?? '', password: fields.get('password') ?? '' };
          const session = await signInWithPassword(people, given, context.peerAddress);
          enter(deps, context, session, safePath(fields.get('next')), begun);
        },
        (problem, fields) => {
          const token = fields.get('token');
          if (token !== null) return linkPage(token, problem);
          return signInPage(safePath(fields.get('next')), problem, fields.get('email') ?? '');
        },
      ),
    'POST /sign-in/link': (context) =>
      answerForm(
        deps,
        context,
        async (fields) => {
          await countRequest(context, fields);
          // Not awaited: the response time must not reveal whether the person exists.
          mailResetLink(people, normalEmail(fields.get('email') ?? '')).catch((caught: unknown) =>
            deps.log.error('a password reset link could not be mailed', { error: errorText(caught) }),
          );
          sendPage(context.response, {
            title: 'Check your mail',
            body: html`<h1>Check your mail</h1><p>If there is an account with this address, a link to set a new password is on its way. It works once, within one hour.</p><a class="button second" href="/sign-in">Back</a>`,
          });
        },
        (problem) => signInPage('/', problem),
      ),
    async 'GET /sign-in/reset'(context) {
      const token = context.url.searchParams.get('token') ?? '';
      await checkResetLink(people, token, context.guesser);
      sendPage(context.response, resetPage(token));
    },
    'POST /sign-in/reset': (context) =>
      answerForm(
        deps,
        context,
        async (fields) => {
          const given = { token: fields.get('token') ?? '', password: fields.get('password') ?? '' };
          enter(deps, context, await resetPassword(people, given, context.peerAddress), '/', fields.get('begun'));
        },
        (problem, fields) => resetPage(fields.get('token') ?? '', problem),
      ),
    async 'POST /sign-out'(context) {
      if (headerOf(context.request, 'authorization') !== '') {
        const { principal, peerAddress } = await requireCaller(deps, context.request);
        if (principal.kind === 'person') await endSession(people, { principal, peerAddress }, principal.sessionId);
        return sendJson(context.response, 200, {});
      }
      if (!isJson(context.request)) requireForm(context);
      if (context.person !== undefined) await endSession(people, context.person, context.person.principal.sessionId);
      const headers = signedOut(deps);
      if (isJson(context.request)) return sendJson(context.response, 200, {}, headers);
      sendText(context.response, 303, 'text/plain', '', { ...headers, location: '/sign-in' });
    },
  };

  /** Requests for links are limited like guesses, so that no one can flood a mailbox. */
  async function countRequest(context: RequestContext, fields: Fields): Promise<void> {
    const guess = {
      credential: `link ${normalEmail(fields.get('email') ?? '')}`,
      peerAddress: context.peerAddress,
      kind: 'password' as const,
    };
    const attempt = await people.guesses.attempt(guess, async () => undefined);
    if (attempt.outcome === 'wait') throw tooManyGuesses(attempt.waitMs);
  }
}

function isJson(request: HttpRequest): boolean {
  return /^application\/json\b/i.test(headerOf(request, 'content-type'));
}
