/** The cause of the error of a request that got no answer. Browsers only say so in texts, each in its own. */
export class Unreached extends Error {
  override readonly name = 'Unreached';
}

/** Where the page of the cloud that ends a sign-in has put the secret of the session. Belongs to this port of the host only. */
const secretKey = 'platform.session';

/**
 * `fetch` of this cloud, with the secret of the session; its failures can be told from mistakes of a program.
 * @throws Unreached; the reason of its signal
 */
export async function reach(to: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers ?? (to instanceof Request ? to.headers : undefined));
  headers.set('platform-session', localStorage.getItem(secretKey) ?? 'none');
  try {
    return await fetch(to, { ...init, headers });
  } catch (caught) {
    throw caught instanceof TypeError ? new Unreached(caught.message, { cause: caught }) : caught;
  }
}

/** After signing out. */
export function forgetSession(): void {
  localStorage.removeItem(secretKey);
}
