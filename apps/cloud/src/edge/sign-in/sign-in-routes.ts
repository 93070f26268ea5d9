/** Signing in and out with the browser: password, one-time links, a forgotten password. */
import { errorText } from '@platform/base';
import { tooManyGuesses } from '../../access/too-many-guesses.ts';
import { endSession } from '../../identity/account.ts';
import { normalEmail } from '../../identity/checked-email.ts';
import { signInWithPassword } from '../../identity/sign-in-with-password.ts';
import { checkResetLink, mailResetLink, resetPassword, signInWithLink } from '../../identity/use-link.ts';
import { headerOf, sendJson, sendText } from '../http.ts';
import { answerForm, enter, type Fields, formFieldOf, sendFormPage } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { type Html, html } from './html.ts';
import { type Page, sendPage } from './page.ts';
import { cookieText, readForm, redirect, requireCaller, safePath, sessionCookie, type Visit } from './visit.ts';

export function signInRoutes(deps: SignInDeps): Routes {
  const { identity } = deps;
  const people = identity.deps;

  const signInPage = (form: Html, next: string, problem?: Html, email = ''): Page => ({
    title: 'Sign in',
    body: html`<h1>Sign in</h1>${problem}
<form method="post" action="/sign-in">${form}<input type="hidden" name="next" value="${next}">
<label for="email">E-mail</label><input id="email" name="email" type="email" autocomplete="username" required value="${email}"${email === '' && html` autofocus`}>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required${email !== '' && html` autofocus`}>
<button type="submit">Sign in</button></form>
${identity.openId && html`<div class="or">or</div><a class="button second" href="/sign-in/oidc?next=${encodeURIComponent(next)}">Continue with OpenID Connect</a>`}
${
  people.mail === undefined
    ? html`<p class="quiet">No account yet, or no password? On a first start, open the sign-in link that the cloud printed in its terminal; later, ask whoever runs this installation.</p>`
    : html`<details><summary>Forgotten your password?</summary><form method="post" action="/sign-in/link">${form}
<label for="forgotten">E-mail</label><input id="forgotten" name="email" type="email" autocomplete="username" required><button class="second" type="submit">Mail me a link</button></form></details>`
}`,
  });

  const resetPage = (form: Html, token: string, problem?: Html): Page => ({
    title: 'Set a new password',
    body: html`<h1>Set a new password</h1><p class="quiet">You will be signed out everywhere else.</p>${problem}
<form method="post" action="/sign-in/reset">${form}<input type="hidden" name="token" value="${token}">
<label for="password">New password, at least 10 characters</label><input id="password" name="password" type="password" autocomplete="new-password" minlength="10" required autofocus>
<button type="submit">Set password</button></form>`,
  });

  return {
    async 'GET /sign-in'(visit) {
      const token = visit.url.searchParams.get('token');
      const next = safePath(visit.url.searchParams.get('next'));
      if (token !== null) return enter(deps, visit, await signInWithLink(people, token, visit.peerAddress), '/');
      if (visit.person !== undefined) return redirect(visit, next);
      sendFormPage(deps, visit, (form) => signInPage(form, next));
    },
    // Link previews ask with HEAD; only a visit uses a link up.
    'HEAD /sign-in': async (visit) => sendText(visit.response, 200, 'text/html', ''),
    'POST /sign-in': (visit) =>
      answerForm(
        deps,
        visit,
        async (fields) => {
          const given = { email: fields.get('email') ?? '', password: fields.get('password') ?? '' };
          const session = await signInWithPassword(people, given, visit.peerAddress);
          enter(deps, visit, session, safePath(fields.get('next')));
        },
        (problem, fields) =>
          signInPage(formFieldOf(deps, visit), safePath(fields.get('next')), problem, fields.get('email') ?? ''),
      ),
    'POST /sign-in/link': (visit) =>
      answerForm(
        deps,
        visit,
        async (fields) => {
          await countRequest(visit, fields);
          // Not awaited: whether there is such a person must not show in the time that it takes.
          mailResetLink(people, normalEmail(fields.get('email') ?? '')).catch((caught: unknown) =>
            deps.log.error('a link to set a password was not mailed', { error: errorText(caught) }),
          );
          sendPage(visit.response, {
            title: 'Look into your mail',
            body: html`<h1>Look into your mail</h1><p>If there is an account with this address, a link to set a new password is on its way. It works once, for one hour.</p><a class="button second" href="/sign-in">Back</a>`,
          });
        },
        (problem) => signInPage(formFieldOf(deps, visit), '/', problem),
      ),
    async 'GET /sign-in/reset'(visit) {
      const token = visit.url.searchParams.get('token') ?? '';
      await checkResetLink(people, token, visit.peerAddress);
      sendFormPage(deps, visit, (form) => resetPage(form, token));
    },
    'POST /sign-in/reset': (visit) =>
      answerForm(
        deps,
        visit,
        async (fields) => {
          const given = { token: fields.get('token') ?? '', password: fields.get('password') ?? '' };
          enter(deps, visit, await resetPassword(people, given, visit.peerAddress), '/');
        },
        (problem, fields) => resetPage(formFieldOf(deps, visit), fields.get('token') ?? '', problem),
      ),
    async 'POST /sign-out'(visit) {
      if (headerOf(visit.request, 'authorization') !== '') {
        const { principal, peerAddress } = await requireCaller(deps, visit.request);
        if (principal.kind === 'person') await endSession(people, { principal, peerAddress }, principal.sessionId);
        return sendJson(visit.response, 200, {});
      }
      await readForm(deps.instanceKey, visit);
      if (visit.person !== undefined) await endSession(people, visit.person, visit.person.principal.sessionId);
      redirect(visit, '/sign-in', [cookieText(visit, sessionCookie, '', 0)]);
    },
  };

  /** Asking for links is limited as guessing is: nobody's mailbox is filled from here. */
  async function countRequest(visit: Visit, fields: Fields): Promise<void> {
    const guess = {
      credential: `link ${normalEmail(fields.get('email') ?? '')}`,
      peerAddress: visit.peerAddress,
      kind: 'password' as const,
    };
    const attempt = await people.guesses.attempt(guess, async () => undefined);
    if (attempt.outcome === 'wait') throw tooManyGuesses(attempt.waitMs);
  }
}
