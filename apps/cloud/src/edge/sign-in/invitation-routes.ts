/** Accepts an invitation in the browser. */
import {
  acceptAsNewPerson,
  acceptSignedIn,
  acceptWithPassword,
  type Pending,
  readInvitation,
} from '../../identity/invitations/accept-invitation.ts';
import { type Html, html } from '../../text-rules/html.ts';
import { answerForm, enter, formFields } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { type Page, sendOpeningPage, sendPage } from './page.ts';
import { mayAskAgain, type RequestContext, redirect } from './request-context.ts';

export function invitationRoutes(deps: SignInDeps): Routes {
  const { identity } = deps;
  const people = identity.deps;

  const acceptPage = (context: RequestContext, token: string, pending: Pending, problem?: Html, name = ''): Page => {
    const { invitation, organizationName, person, choosesPassword } = pending;
    const herself = person !== undefined && context.person?.principal.personId === person.id;
    const email = html`<label for="email">E-mail</label><input id="email" type="email" autocomplete="username" readonly value="${invitation.email}">`;
    const password = (label: string, autocomplete: string): Html =>
      html`<label for="password">${label}</label><input id="password" name="password" type="password" autocomplete="${autocomplete}" required>`;
    const fields = herself
      ? undefined
      : !choosesPassword
        ? html`${email}${password('Your password for this cloud', 'current-password')}`
        : html`${email}<label for="name">Your name</label><input id="name" name="name" autocomplete="name" maxlength="200" required value="${name}">${password('Choose a password, at least 10 characters', 'new-password')}`;
    const here = encodeURIComponent(`/invitations/accept?token=${token}`);
    return {
      title: 'Invitation',
      body: html`<h1>Join ${organizationName}</h1><p class="quiet">${invitation.email} is invited to this organization.</p>${problem}
<form method="post" action="/invitations/accept">${formFields}<input type="hidden" name="token" value="${token}">${fields}<button type="submit">Join</button></form>
${!herself && identity.openId && html`<div class="or">or</div><a class="button second" href="/sign-in/oidc?next=${person === undefined ? '%2F' : here}">Continue with OpenID Connect</a>`}`,
    };
  };

  return {
    async 'GET /invitations/accept'(context) {
      const token = context.url.searchParams.get('token') ?? '';
      if (mayAskAgain(deps, context.request)) return sendOpeningPage(context.response);
      const pending = await readInvitation(people, token, context.guesser);
      sendPage(context.response, acceptPage(context, token, pending));
    },
    'POST /invitations/accept': (context) =>
      answerForm(
        deps,
        context,
        async (fields) => {
          const { peerAddress } = context;
          const begun = fields.get('begun');
          const token = fields.get('token') ?? '';
          const password = fields.get('password') ?? '';
          const { person, choosesPassword } = await readInvitation(people, token, peerAddress);
          const herself = person !== undefined && context.person?.principal.personId === person.id;
          if (choosesPassword && !herself) {
            const given = { token, name: fields.get('name') ?? '', password };
            return enter(deps, context, await acceptAsNewPerson(people, given, peerAddress), '/', begun);
          }
          if (!herself)
            return enter(deps, context, await acceptWithPassword(people, { token, password }, peerAddress), '/', begun);
          await acceptSignedIn(people, { token, personId: person.id }, peerAddress);
          redirect(context, '/');
        },
        async (problem, fields) => {
          const token = fields.get('token') ?? '';
          const pending = await readInvitation(people, token, context.peerAddress);
          return acceptPage(context, token, pending, problem, fields.get('name') ?? '');
        },
      ),
  };
}
