/** Runs a submitted form. If it fails for a reason that the sender can fix, shows the page again with the problem. */
import { asPlatformError, type PlatformError } from '@platform/base';
import { retryAfterHeader } from '../../access/too-many-guesses.ts';
import type { NewSession } from '../../identity/sign-in/sessions.ts';
import { type Html, html } from '../../text-rules/html.ts';
import { statusOfError } from '../http.ts';
import type { SignInDeps } from './deps.ts';
import { type Page, sendPage } from './page.ts';
import { cookieText, formToken, type RequestContext, readForm, redirect, sessionCookie } from './request-context.ts';

export type Fields = URLSearchParams;

/** @param again builds the page with the form, the given fields and the problem. */
export async function answerForm(
  deps: SignInDeps,
  context: RequestContext,
  act: (fields: Fields) => Promise<void>,
  again: (problem: Html, fields: Fields) => Promise<Page> | Page,
): Promise<void> {
  const fields = await readForm(deps.instanceKey, context);
  try {
    await act(fields);
  } catch (caught) {
    const error = asPlatformError(caught);
    if (error.isOwnFault) throw error;
    const page = await again(problemText(error), fields);
    sendPage(context.response, { ...page, status: statusOfError(error) }, retryAfterHeader(caught));
  }
}

/** Sends a page with the form token that `body` puts into its forms. */
export function sendFormPage(deps: SignInDeps, context: RequestContext, page: (form: Html) => Page): void {
  const { value, cookies } = formToken(deps.instanceKey, context);
  sendPage(context.response, page(formField(value)), cookies.length === 0 ? {} : { 'set-cookie': [...cookies] });
}

/** The form token for a page that is shown again: the browser already has its cookie. */
export function formFieldOf(deps: SignInDeps, context: RequestContext): Html {
  return formField(formToken(deps.instanceKey, context).value);
}

/** Signs the browser in. */
export function enter(deps: SignInDeps, context: RequestContext, session: NewSession, next: string): void {
  const { clock } = deps.identity.deps;
  redirect(context, next, [
    cookieText(context, sessionCookie, session.token, longestCookieSeconds(session.expiresMs - clock.now())),
  ]);
}

/** Using a session renews it but not its cookie, so the cookie lasts longer. The session decides. */
function longestCookieSeconds(lifeMs: number): number {
  return (lifeMs * 30) / 1_000;
}

function formField(value: string): Html {
  return html`<input type="hidden" name="form" value="${value}">`;
}

function problemText(error: PlatformError): Html {
  return html`<p class="problem" role="alert">${error.message}</p>`;
}
