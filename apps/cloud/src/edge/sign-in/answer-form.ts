/** Runs a submitted form. If it fails for a reason that the sender can fix, shows the page again with the problem. */
import { asPlatformError, asStarted, type PlatformError } from '@platform/base';
import { halvesOf } from '../../access/access-token.ts';
import { retryAfterHeader } from '../../access/too-many-guesses.ts';
import type { NewSession } from '../../identity/sign-in/sessions.ts';
import { type Html, html } from '../../text-rules/html.ts';
import { statusOfError } from '../http.ts';
import type { SignInDeps } from './deps.ts';
import { type Page, sendPage } from './page.ts';
import { cookieText, type RequestContext, redirect, requireForm } from './request-context.ts';

export type Fields = URLSearchParams;

/** The fields of every form that the script of the page fills in: see page-script.ts. */
export const formFields: Html = html`<input type="hidden" name="session" value=""><input type="hidden" name="begun" value="">`;

/** @param again builds the page with the form, the given fields and the problem. */
export async function answerForm(
  { command }: Pick<SignInDeps, 'command'>,
  context: RequestContext,
  act: (fields: Fields) => Promise<void>,
  again: (problem: Html, fields: Fields) => Promise<Page> | Page,
): Promise<void> {
  const fields = requireForm(context);
  try {
    await act(fields);
  } catch (caught) {
    const error = asPlatformError(caught);
    if (error.isOwnFault) throw error;
    const page = await again(problemText(error, command), fields);
    sendPage(context.response, { ...page, status: statusOfError(error) }, retryAfterHeader(caught));
  }
}

/** Where the page that keeps the secret of a new session is. */
export const enteredPath = '/sign-in/done';

/**
 * Signs the browser in: sets the cookie, and hands over the secret in the fragment of the redirect, which no server sees.
 * @param begun what the browser sent when this sign-in began
 */
export function enter(
  deps: SignInDeps,
  context: RequestContext,
  session: NewSession,
  next: string,
  begun: string | null | undefined,
): void {
  const { cookie, secret } = halvesOf(session.token);
  const fragment = new URLSearchParams({ session: secret, begun: begun ?? '' });
  redirect(context, `${enteredPath}?next=${encodeURIComponent(next)}#${fragment}`, [
    cookieText(deps, 'session', cookie, longestCookieSeconds(session.expiresMs - deps.identity.deps.clock.now())),
  ]);
}

/** Ends the session in the browser, with what it keeps of our pages. Cookies belong to the whole host, so only ours is removed. */
export function signedOut(deps: SignInDeps): Record<string, string | string[]> {
  return { 'set-cookie': [cookieText(deps, 'session', '', 0)], 'clear-site-data': '"cache"' };
}

/** Using a session renews it but not its cookie, so the cookie lasts longer. The session decides. */
function longestCookieSeconds(lifeMs: number): number {
  return (lifeMs * 30) / 1_000;
}

function problemText(error: PlatformError, command: string): Html {
  return html`<p class="problem" role="alert">${asStarted(error.message, command)}</p>`;
}
