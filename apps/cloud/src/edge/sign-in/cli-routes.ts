/** Lets a command line act for a person: they allow it in their browser, and the command line gets a code for its session. */
import { invalidArgument } from '@platform/base';
import { challengePattern, createCliCode, redeemCliCode } from '../../identity/sign-in/cli-codes.ts';
import { type Html, html } from '../../text-rules/html.ts';
import { sendJson, sendToSignIn } from '../http.ts';
import { answerForm, formFields } from './answer-form.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { type Page, sendOpeningPage, sendPage } from './page.ts';
import { mayAskAgain, readJson, redirect, textField } from './request-context.ts';

/** The command line listens on its own computer. */
const loopback = 'http://127.0.0.1';

interface Request {
  readonly challenge: string;
  readonly state: string;
  /** Empty: the page shows the code for pasting. */
  readonly port: string;
}

export function cliRoutes(deps: SignInDeps): Routes {
  const people = deps.identity.deps;

  const allowPage = (asked: Request, email: string, problem?: Html): Page => ({
    title: 'Command line',
    formsTo: `${loopback}:*`,
    body: html`<h1>Let the command line act for you?</h1>${problem}
<p>It will be able to do everything that <strong>${email || 'the first owner'}</strong> may do here, until you end its session in <a href="/account">your account</a>.</p>
<p>It asks ${asked.port === '' ? 'from a terminal into which you will paste a code' : html`from this computer, at port ${asked.port}`}, and shows this code:</p><p><code id="compare">${comparisonCode(asked.challenge)}</code></p>
<p class="quiet">Allow it only if you have just started <em>${deps.command} login</em> yourself, and your terminal shows the same code.</p>
<form method="post" action="/sign-in/cli">${formFields}<input type="hidden" name="challenge" value="${asked.challenge}"><input type="hidden" name="state" value="${asked.state}"><input type="hidden" name="port" value="${asked.port}">
<button type="submit" name="answer" value="allow">Allow</button><button class="second" type="submit" name="answer" value="refuse">Refuse</button></form>`,
  });

  return {
    async 'GET /sign-in/cli'(context) {
      const asked = requestOf(context.url.searchParams);
      const { person } = context;
      if (mayAskAgain(deps, context.request)) return sendOpeningPage(context.response, `${loopback}:*`);
      if (person === undefined) return sendToSignIn(context.response, context.url);
      sendPage(context.response, allowPage(asked, person.principal.email));
    },
    'POST /sign-in/cli': (context) =>
      answerForm(
        deps,
        context,
        async (fields) => {
          const asked = requestOf(fields);
          const { person } = context;
          if (person === undefined) return redirect(context, '/sign-in');
          const allowed = fields.get('answer') === 'allow';
          const code = allowed ? await createCliCode(people, person.principal.personId, asked.challenge) : undefined;
          if (asked.port === '')
            return sendPage(context.response, code === undefined ? refusedPage : codePage(code, deps.command));
          const answer = new URLSearchParams(code === undefined ? { error: 'access_denied' } : { code });
          answer.set('state', asked.state);
          redirect(context, `${loopback}:${asked.port}/?${answer}`);
        },
        (problem, fields) => allowPage(requestOf(fields), context.person?.principal.email ?? '', problem),
      ),
    async 'POST /sign-in/cli/token'(context) {
      const body = await readJson(context.request);
      const given = { code: textField(body, 'code'), verifier: textField(body, 'verifier') };
      const { token, expiresMs, personId, email } = await redeemCliCode(people, given, context.peerAddress);
      sendJson(context.response, 200, { token, expiresMs, personId, email });
    },
  };
}

const refusedPage: Page = {
  title: 'Command line',
  body: html`<h1>Refused</h1><p>The command line was not given access. You can close this page.</p>`,
};

function codePage(code: string, command: string): Page {
  return {
    title: 'Command line',
    body: html`<h1>Paste this code</h1><p>Paste it into the terminal where you started <em>${command} login</em>, within 5 minutes. It works once.</p><code id="code">${code}</code>`,
  };
}

/** What page and terminal show, so that a person can compare them: the first bytes of the challenge, such as `7F3A-09C1`. */
function comparisonCode(challenge: string): string {
  const hex = Buffer.from(challenge, 'base64url').toString('hex').slice(0, 8).toUpperCase();
  return `${hex.slice(0, 4)}-${hex.slice(4)}`;
}

/** @throws invalid_argument */
function requestOf(given: URLSearchParams): Request {
  const challenge = given.get('challenge') ?? '';
  const state = given.get('state') ?? '';
  const port = given.get('port') ?? '';
  if (!challengePattern.test(challenge))
    throw invalidArgument('challenge: expected the SHA-256 of a verifier as base64url, found another value');
  if (!/^[\w.~-]{0,200}$/.test(state))
    throw invalidArgument('state: expected up to 200 letters, digits, "-", ".", "_" or "~", found another value');
  if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    throw invalidArgument(`port: expected 1 to 65535, or none, found ${JSON.stringify(port.slice(0, 20))}`);
  return { challenge, state, port };
}
