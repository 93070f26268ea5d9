/**
 * `/unsubscribe`: the link in notification mails. GET shows a page and changes nothing, because scanners follow links; POST stops the
 * mails, also as the one click of a mail program (RFC 8058), or starts them again. The signature of the link is sufficient.
 */
import type { Clock } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import { readUnsubscribeLink, setSubscribed, unsubscribedAt, unsubscribePath } from '../outbox/email/unsubscribe.ts';
import type { OutboxDatabase } from '../outbox/store.ts';
import { readBody } from '../test-inbox/read-body.ts';
import { html } from '../text-rules/html.ts';
import type { Route } from '../wire/route.ts';
import { sendPage } from './sign-in/page.ts';

const maxBodyBytes = 4_096;

export interface UnsubscribeDeps {
  readonly db: OutboxDatabase;
  readonly instanceKey: Pick<InstanceKey, 'verify'>;
  /** undefined: the organization was deleted. */
  readonly organizationName: (organizationId: string) => string | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function unsubscribeRoute(deps: UnsubscribeDeps): Route {
  const { db, instanceKey, clock } = deps;
  return async (request, response, url) => {
    if (url.pathname !== unsubscribePath || !['GET', 'HEAD', 'POST'].includes(request.method ?? '')) return false;
    const to = readUnsubscribeLink(instanceKey, url.searchParams);
    const name = to && deps.organizationName(to.organizationId);
    if (to === undefined || name === undefined) {
      const body = html`<h1>This link is not valid</h1><p>Open the link in the newest mail. If it was cut off, copy the whole link.</p>`;
      sendPage(response, { title: 'Invalid link', status: 403, body });
      return true;
    }
    if (request.method === 'POST') {
      const form = new URLSearchParams(await readBody(request, maxBodyBytes));
      await setSubscribed(db, to, form.get('subscribe') === '1', clock.now());
    }
    const isStopped = (await unsubscribedAt(db, to)) !== undefined;
    const action = `${url.pathname}${url.search}`;
    const body = isStopped
      ? html`<h1>You no longer get these mails</h1><p class="done">The triggers of ${name} no longer notify ${to.address} by e-mail.</p>
<form method="post" action="${action}"><input type="hidden" name="subscribe" value="1"><button class="second">Resume these mails</button></form>`
      : html`<h1>Stop these mails?</h1><p>The triggers of ${name} notify ${to.address} by e-mail.</p>
<form method="post" action="${action}"><button>Stop these mails</button></form>`;
    sendPage(response, { title: 'Notifications by e-mail', body });
    return true;
  };
}
