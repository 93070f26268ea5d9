/** An organization without machines, of the person who is signed in; she is its owner. */
import type { Page } from 'playwright-core';

/** @returns its id */
export async function createEmptyOrganization(page: Page, name = 'Empty'): Promise<string> {
  return await page.evaluate<string>(`(async () => {
    const headers = { 'content-type': 'application/json', 'platform-session': localStorage.getItem('platform.session') };
    const init = { method: 'POST', headers, body: JSON.stringify({ name: ${JSON.stringify(name)} }) };
    const answer = await fetch('/platform.app.v1.AppService/CreateOrganization', init);
    return (await answer.json()).organization.id;
  })()`);
}
