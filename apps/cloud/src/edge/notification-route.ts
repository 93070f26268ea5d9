/** `GET /notifications/<id>`: the event of a notification, for those who may read the data of the part. Mails link to it. */
import type { Access } from '../access/authorize.ts';
import { type Described, describedMessage } from '../outbox/describe-message.ts';
import type { NotificationMailDeps } from '../outbox/email/write-notifications.ts';
import type { OutboxDatabase } from '../outbox/store.ts';
import { type Html, html } from '../text-rules/html.ts';
import type { Route } from '../wire/route.ts';
import { sendToSignIn } from './http.ts';
import { sendOpeningPage, sendPage } from './sign-in/page.ts';
import type { SignIn } from './sign-in/sign-in.ts';

export interface NotificationRouteDeps {
  readonly db: OutboxDatabase;
  readonly signIn: Pick<SignIn, 'principalOf' | 'mayAskAgain'>;
  readonly access: Pick<Access, 'allows'>;
  readonly zoneOf: NotificationMailDeps['zoneOf'];
}

export function notificationRoute(deps: NotificationRouteDeps): Route {
  const { db, signIn, access } = deps;
  return async (request, response, url) => {
    const id = /^\/notifications\/(msg_[0-9a-f]{40})$/.exec(url.pathname)?.[1];
    if (id === undefined) return false;
    if (signIn.mayAskAgain(request)) {
      sendOpeningPage(response);
      return true;
    }
    const principal = await signIn.principalOf(request);
    if (principal === undefined) {
      sendToSignIn(response, url);
      return true;
    }
    const found = await describedMessage(db, id, (organizationId) =>
      deps.zoneOf(organizationId, principal.kind === 'person' ? principal.email : ''),
    );
    // Callers who may not see it do not learn whether it exists.
    if (found === undefined || !access.allows(principal, 'part.read', found.partId)) {
      const body = html`<h1>Notification not found</h1><p>Notifications are kept for 30 days, and shown to owners and operators of the machine.</p>`;
      sendPage(response, { title: 'Notification not found', status: 404, body });
      return true;
    }
    sendPage(response, { title: found.summary, wide: true, body: bodyOf(found) });
    return true;
  };
}

function bodyOf({ summary, triggerName, time, facts, reading }: Described): Html {
  const rows = [['Trigger', triggerName], ['Time', time], ...facts];
  return html`<h1>${summary}</h1>
<div class="scroll" tabindex="0" role="region" aria-label="What happened"><table>${rows.map(([name, value]) => html`<tr><th>${name}</th><td>${value}</td></tr>`)}</table></div>
${reading !== '' && html`<h2>Reading</h2><code class="lines">${reading}</code>`}
<p class="quiet"><a href="/status">Status</a></p>`;
}
