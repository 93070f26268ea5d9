/**
 * A browser without a display, for tests: cookies, redirects, forms, and what the script of the pages does (edge/sign-in/page-script.ts).
 * Real browsers run that script in conformance/src/web-ui.
 */

export interface Shown {
  readonly status: number;
  /** The address shown in the browser. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

export class Browser {
  readonly #home: string;
  /** Cookies by host and port. Unlike in real browsers, a provider on this computer thus does not see ours. */
  readonly #cookies = new Map<string, Map<string, string>>();
  /** `localStorage` of the cloud's origin. */
  #secret = '';
  readonly #begun = 'this browser';
  /** The page that is shown. */
  page: Shown = { status: 0, url: new URL('about:blank'), headers: new Headers(), body: '' };
  /** Redirects to these addresses are not followed. */
  stopAt: (url: URL) => boolean = () => false;

  constructor(home: string) {
    this.#home = home;
  }

  open(path: string): Promise<Shown> {
    return this.#ask(new URL(path, this.#home), { method: 'GET' });
  }

  /** Submits the form of the current page that posts to `action`, including its hidden fields. */
  submit(action: string, fields: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const form = this.page.body
      .split('<form ')
      .find((one) => one.startsWith(`method="post" action="${action}"`))
      ?.split('</form>')[0];
    if (form === undefined)
      throw new Error(`no form goes to ${action} on ${this.page.url.pathname}: ${this.page.body}`);
    const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)"(?: autocomplete="\w+")? value="([^"]*)"/g)];
    const all = Object.fromEntries(hidden.map(([, name, value]) => [name, unescaped(value ?? '')]));
    return this.post(action, { ...all, session: this.#secret, begun: this.#begun, ...fields });
  }

  post(path: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    return this.#ask(new URL(path, this.#home), {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: this.#home },
    });
  }

  /** The cookie of the session. */
  get cookie(): string | undefined {
    const jar = this.#cookies.get(new URL(this.#home).host) ?? new Map<string, string>();
    return [...jar].find(([name]) => /^(__Host-)?platform_[\w-]+_session$/.test(name))?.[1];
  }

  /** The header `cookie` for the cloud. */
  get jar(): string {
    const jar = this.#cookies.get(new URL(this.#home).host) ?? new Map<string, string>();
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** The secret of the session; empty: none. */
  get secret(): string {
    return this.#secret;
  }

  /** Both halves of the session, as one token. */
  get token(): string | undefined {
    return this.cookie === undefined || this.#secret === '' ? undefined : `pt1.${this.cookie}.${this.#secret}`;
  }

  /** Loses what scripts have kept, such as a person who clears the storage of the page. */
  forgetSecret(): void {
    this.#secret = '';
  }

  async #ask(url: URL, init: RequestInit): Promise<Shown> {
    const jar = this.#cookies.get(url.host) ?? new Map<string, string>();
    this.#cookies.set(url.host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { accept: 'text/html', ...init.headers, ...(cookie && { cookie }) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    this.page = { status: response.status, url, headers: response.headers, body: await response.text() };
    const location = response.headers.get('location');
    const next = location === null ? undefined : new URL(location, url);
    if (next === undefined) return this.#runScript(init);
    if (!this.stopAt(next)) return this.#ask(next, { method: 'GET' });
    this.page = { ...this.page, url: next };
    return this.page;
  }

  async #runScript(init: RequestInit): Promise<Shown> {
    const { url, body } = this.page;
    const step = /<main[^>]* data-step="([\w-]+)"/.exec(body)?.[1];
    const next = unescaped(/ data-next="([^"]*)"/.exec(body)?.[1] ?? '');
    const hasAsked = new Headers(init.headers).has('platform-session');
    if (step === 'open' && !hasAsked)
      return this.#ask(url, { method: 'GET', headers: { 'platform-session': this.#secret || 'none' } });
    if (step === 'enter') {
      const given = new URLSearchParams(url.hash.slice(1));
      if (given.get('begun') !== this.#begun || !given.get('session')) return this.page;
      this.#secret = given.get('session') ?? '';
      return this.open(next);
    }
    if (step === 'follow') {
      const link = unescaped(/<a class="button" href="([^"]*)"/.exec(body)?.[1] ?? '');
      return this.open(`${link}&begun=${encodeURIComponent(this.#begun)}`);
    }
    return this.page;
  }
}

function unescaped(text: string): string {
  const signs: Readonly<Record<string, string>> = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&amp;': '&',
  };
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (one) => signs[one] ?? one);
}
