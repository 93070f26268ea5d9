/**
 * A person in a browser, using the routes of docs/specs/sign-in.md: cookies, forms, what the script of the pages does (the two halves of a
 * session, D49), and the session of a command line.
 */
import { createHash, randomBytes } from 'node:crypto';

const begun = 'web-session';

export class WebSession {
  readonly #home: string;
  readonly #cookies = new Map<string, string>();
  #page = '';
  #secret = 'none';

  constructor(home: string) {
    this.#home = home;
  }

  /** The text of the page after all redirects. */
  async open(path: string): Promise<string> {
    return this.#ask(path);
  }

  /** Fills in and submits the form of the current page whose action is `action`. */
  async submit(action: string, fields: Readonly<Record<string, string>>): Promise<string> {
    const [, form] = new RegExp(`<form method="post" action="${action}">(.*?)</form>`, 's').exec(this.#page) ?? [];
    if (form === undefined) throw new Error(`no form goes to ${action} on this page: ${this.#page}`);
    const body = new URLSearchParams(fields);
    for (const [tag] of form.matchAll(/<input type="hidden"[^>]*>/g)) {
      const [, name = ''] = /name="(\w+)"/.exec(tag) ?? [];
      if (!body.has(name)) body.set(name, /value="([^"]*)"/.exec(tag)?.[1] ?? '');
    }
    body.set('session', this.#secret);
    body.set('begun', begun);
    return this.#ask(action, body);
  }

  /** Opens the link of a first start, and presses its button. */
  async signIn(link: string): Promise<string> {
    const { pathname, search } = new URL(link);
    await this.open(pathname + search);
    return this.submit('/sign-in', {});
  }

  /** The headers of a request by a script of this cloud's page. */
  get headers(): Readonly<Record<string, string>> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    return { cookie, origin: this.#home, 'platform-session': this.#secret };
  }

  /** A token for programs, as `platform login` gets one. */
  async commandLineToken(): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    await this.open(`/sign-in/cli?state=s&challenge=${challenge}`);
    const page = await this.submit('/sign-in/cli', { answer: 'allow' });
    const [, code] = /<code id="code">([\w-]+)</.exec(page) ?? [];
    const response = await fetch(`${this.#home}/sign-in/cli/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, verifier }),
    });
    const { token } = (await response.json()) as { token?: string };
    if (token === undefined) throw new Error(`expected a token, found status ${response.status}`);
    return token;
  }

  async #ask(path: string, form?: URLSearchParams): Promise<string> {
    const url = new URL(path, this.#home);
    const given = new URLSearchParams(url.hash.slice(1));
    if (url.pathname === '/sign-in/done' && given.get('begun') === begun) {
      this.#secret = given.get('session') ?? 'none';
      return this.#ask(url.searchParams.get('next') ?? '/');
    }
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...this.headers },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([\w-]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location !== null) return this.#ask(location);
    this.#page = await response.text();
    if (response.status >= 400) throw new Error(`${path}: status ${response.status}: ${this.#page}`);
    return this.#page;
  }
}
