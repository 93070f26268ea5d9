/** Signing in over HTTP (D30): pages for people, the login of the command line, and JSON about the caller. See docs/specs/sign-in.md. */
import { asStarted } from '@platform/base';
import { reportedFault } from '@platform/rpc/server';
import type { Principal } from '../../access/principal.ts';
import { retryAfterHeader } from '../../access/too-many-guesses.ts';
import { html } from '../../text-rules/html.ts';
import type { HttpRequest, HttpResponse, Route } from '../../wire/route.ts';
import { headerOf, statusOfError } from '../http.ts';
import { accountRoutes } from './account-routes.ts';
import { apiRoutes } from './api-routes.ts';
import { cliRoutes } from './cli-routes.ts';
import type { Routes, SignInDeps } from './deps.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { openIdRoutes } from './open-id-routes.ts';
import { sendPage } from './page.ts';
import { guesserOf, mayAskAgain, principalOfBrowser, requestContextOf } from './request-context.ts';
import { signInRoutes } from './sign-in-routes.ts';

export interface SignIn {
  readonly handle: Route;
  /** The person of the browser's session; undefined if half of it is missing, or it has ended. */
  principalOf(request: HttpRequest): Promise<Principal | undefined>;
  /** Whether the browser has the cookie of a session, which may have ended. Nothing may depend on it but which page is shown. */
  hasCookie(request: HttpRequest): boolean;
  /** The address for guessing limits: attempts that pages of other origins cause are counted apart. */
  guesserOf(request: HttpRequest): string;
  /** See `mayAskAgain`. */
  mayAskAgain(request: HttpRequest): boolean;
}

export function createSignIn(deps: SignInDeps): SignIn {
  const routes: Routes = {
    ...signInRoutes(deps),
    ...openIdRoutes(deps),
    ...cliRoutes(deps),
    ...invitationRoutes(deps),
    ...accountRoutes(deps),
    ...apiRoutes(deps),
  };
  return {
    async handle(request, response, url) {
      const route = routes[`${request.method} ${url.pathname}`];
      if (route === undefined) return false;
      try {
        await route(await requestContextOf(deps, request, response, url));
      } catch (caught) {
        const forPeople = !url.pathname.startsWith('/api/') && headerOf(request, 'accept').includes('text/html');
        if (!forPeople || response.headersSent) throw caught;
        showProblem(deps, response, url, caught);
      }
      return true;
    },
    principalOf: (request) => principalOfBrowser(deps, request),
    hasCookie: (request) => deps.browserSession.cookieOf(headerOf(request, 'cookie')) !== undefined,
    guesserOf: (request) => guesserOf(deps, request),
    mayAskAgain: (request) => mayAskAgain(deps, request),
  };
}

/** People get a page instead of JSON. */
function showProblem(deps: SignInDeps, response: HttpResponse, url: URL, caught: unknown): void {
  // Log only the path: the query may contain the token of a link.
  const error = reportedFault(caught, { method: url.pathname }, deps.log);
  const page = {
    title: 'Not possible',
    status: statusOfError(error),
    body: html`<h1>That did not work</h1><p class="problem" role="alert">${asStarted(error.message, deps.command)}</p><a class="button second" href="/sign-in">Sign in</a>`,
  };
  sendPage(response, page, retryAfterHeader(caught));
}
