/** A person's account page: address, password and sessions. */
import { withoutPort } from '@platform/base';
import {
  changePassword,
  endAllSessions,
  endSession,
  type SignedInCaller,
  setEmail,
  setTimeZone,
} from '../../identity/account.ts';
import { findPerson } from '../../identity/people.ts';
import type { ListedSession } from '../../identity/sign-in/sessions.ts';
import { type Html, html } from '../../text-rules/html.ts';
import { sendText } from '../http.ts';
import { answerForm, type Fields, formFields, signedOut } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { type Page, sendOpeningPage, sendPage } from './page.ts';
import { mayAskAgain, type RequestContext, redirect, requireForm } from './request-context.ts';

export function accountRoutes(deps: SignInDeps): Routes {
  const people = deps.identity.deps;

  const accountPage = async (by: SignedInCaller, message?: Html): Promise<Page> => {
    const { personId, sessionId } = by.principal;
    const person = await findPerson(people.db, { id: personId });
    const sessions = await people.sessions.list(personId);
    const email = person?.email ?? '';
    const emailForm = html`<p>Set your e-mail address and then a password, so that you can sign in without the link from the terminal.</p>
<form method="post" action="/account/email">${formFields}<label for="email">E-mail</label><input id="email" name="email" type="email" autocomplete="username" required><button type="submit">Set e-mail</button></form>`;
    const passwordForm = html`${person?.passwordHash === undefined && html`<p>Set a password, so that you can sign in without the link from the terminal.</p>`}<form method="post" action="/account/password">${formFields}<input type="hidden" name="email" autocomplete="username" value="${email}">
${person?.passwordHash !== undefined && html`<label for="current">Current password</label><input id="current" name="current" type="password" autocomplete="current-password" required>`}
<label for="password">New password, at least 10 characters</label><input id="password" name="password" type="password" autocomplete="new-password" minlength="10" required>
<button type="submit">Set password</button></form><p class="quiet">This ends your other sessions.</p>`;
    return {
      title: 'Your account',
      wide: true,
      body: html`<h1>Your account</h1><p class="quiet">${email || 'first owner'} · <a href="/status">status</a></p>${message}
${email === '' ? emailForm : html`<h2>Password</h2>${passwordForm}`}
<h2>Time zone of mails</h2><form method="post" action="/account/time-zone">${formFields}<label for="zone">Zone in which mails to you write times, such as Europe/Berlin; empty: that of the organization</label><input id="zone" name="zone" list="zones" autocomplete="off" value="${person?.timeZone ?? ''}"><datalist id="zones">${Intl.supportedValuesOf('timeZone').map((zone) => html`<option>${zone}</option>`)}</datalist><button class="second" type="submit">Set time zone</button></form>
<h2>Sessions</h2><div class="scroll" tabindex="0" role="region" aria-label="Table of sessions"><table><thead><tr><th>kind</th><th>from</th><th>began</th><th>last used</th><td></td></tr></thead><tbody>${sessions.map((one) => sessionRow(one, one.id === sessionId))}</tbody></table></div>
<form method="post" action="/sign-out">${formFields}<button class="second" type="submit">Sign out</button></form>
<form method="post" action="/account/sign-out-everywhere">${formFields}<button class="second" type="submit">Sign out everywhere</button></form><p class="quiet">This ends all your sessions, in browsers and command lines.</p>`,
    };
  };

  const act = (context: RequestContext, verb: (by: SignedInCaller, fields: Fields) => Promise<void>): Promise<void> =>
    answerForm(
      deps,
      context,
      async (fields) => {
        if (context.person === undefined) return redirect(context, '/sign-in?next=/account');
        await verb(context.person, fields);
        redirect(context, '/account?done=1');
      },
      (problem) =>
        context.person === undefined
          ? { title: 'Your account', body: html`<h1>Your account</h1>${problem}` }
          : accountPage(context.person, problem),
    );

  return {
    async 'GET /account'(context) {
      if (mayAskAgain(deps, context.request)) return sendOpeningPage(context.response);
      if (context.person === undefined) return redirect(context, '/sign-in?next=/account');
      const done = context.url.searchParams.has('done') ? html`<p class="done" role="status">Done.</p>` : undefined;
      sendPage(context.response, await accountPage(context.person, done));
    },
    'POST /account/email': (context) => act(context, (by, fields) => setEmail(people, by, fields.get('email') ?? '')),
    'POST /account/time-zone': (context) =>
      act(context, (by, fields) => setTimeZone(people, by, fields.get('zone') ?? '')),
    'POST /account/password': (context) =>
      act(context, (by, fields) =>
        changePassword(people, by, { current: fields.get('current') ?? '', password: fields.get('password') ?? '' }),
      ),
    async 'POST /account/sign-out-everywhere'(context) {
      requireForm(context);
      if (context.person !== undefined) await endAllSessions(people, context.person);
      sendText(context.response, 303, 'text/plain', '', { ...signedOut(deps), location: '/sign-in' });
    },
    'POST /account/sessions/end': (context) =>
      act(context, (by, fields) => endSession(people, by, fields.get('id') ?? '')),
  };
}

function sessionRow(one: ListedSession, current: boolean): Html {
  // The script of the page writes it in the zone of the browser.
  const time = (ms: number): Html => {
    const text = new Date(ms).toISOString();
    return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
  };
  const end = html`<form method="post" action="/account/sessions/end">${formFields}<input type="hidden" name="id" value="${one.id}"><button class="second small" type="submit">End</button></form>`;
  return html`<tr><td>${one.kind === 'cli' ? 'command line' : 'browser'}</td><td>${withoutPort(one.peerAddress)}</td><td>${time(one.createdMs)}</td><td>${time(one.lastUsedMs)}</td><td>${current ? html`this one` : end}</td></tr>`;
}
