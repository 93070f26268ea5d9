/** Signs in with a browser: the user allows it on a page, and a code returns to a loopback port (or is pasted) and is exchanged for a session. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { platform } from 'node:os';
import { deadlineExceeded, permissionDenied } from '@platform/base/refusals';
import { PlatformError, refusalOf, sendHttp } from '@platform/sdk/cloud';

export interface SignedIn {
  readonly token: string;
  readonly email: string;
}

export interface SignInOptions {
  readonly url: string;
  /** PEM of the certificates to trust instead of the system's. */
  readonly ca?: string;
  readonly openBrowser: boolean;
  readonly say: (line: string) => void;
  readonly askCode: () => Promise<string>;
  readonly signal: AbortSignal;
}

const waitMs = 5 * 60_000;

export async function signInByBrowser({
  url,
  ca,
  openBrowser,
  say,
  askCode,
  signal,
}: SignInOptions): Promise<SignedIn> {
  const verifier = randomBytes(48).toString('base64url');
  const page = new URL('/sign-in/cli', url);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  page.searchParams.set('challenge', challenge);
  say(`The page shows this code, too; allow the login only then: ${comparisonCode(challenge)}`);
  const code = openBrowser ? await codeFromBrowser(page, say, signal) : await codeFromPerson(page, say, askCode);
  const answer = await sendHttp({
    url: new URL('/sign-in/cli/token', url),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, verifier }),
    ca,
    signal,
  });
  const { token, email = '' } = Object(answer.body) as Partial<Record<'token' | 'email', string>>;
  if (answer.status !== 200 || token === undefined) throw refusalOf(answer, 'POST /sign-in/cli/token');
  return { token, email };
}

/** As the page of the cloud shows it: the first bytes of the challenge, such as `7F3A-09C1`. */
function comparisonCode(challenge: string): string {
  const hex = Buffer.from(challenge, 'base64url').toString('hex').slice(0, 8).toUpperCase();
  return `${hex.slice(0, 4)}-${hex.slice(4)}`;
}

async function codeFromPerson(page: URL, say: (line: string) => void, askCode: () => Promise<string>): Promise<string> {
  page.searchParams.set('state', randomBytes(16).toString('base64url'));
  say(`Open this address in a browser, allow the login, and paste the code here:\n\n  ${page}\n`);
  return askCode();
}

async function codeFromBrowser(page: URL, say: (line: string) => void, signal: AbortSignal): Promise<string> {
  const state = randomBytes(16).toString('base64url');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams;
    const isOurs = same(query.get('state') ?? '', state);
    response.writeHead(isOurs ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(isOurs ? 'You can close this page and return to the terminal.\n' : 'Not found.\n');
    if (!isOurs) return;
    const code = query.get('code');
    if (code !== null) resolve(code);
    else reject(permissionDenied('login: the request was denied in the browser'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    page.searchParams.set('port', String((server.address() as AddressInfo).port));
    page.searchParams.set('state', state);
    say(`Opening ${page}\nIf no browser opens, open that address yourself, or use --no-browser.`);
    open(page);
    const ended = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    ended.addEventListener('abort', () =>
      reject(
        signal.aborted
          ? new PlatformError('canceled', 'you are not logged in')
          : deadlineExceeded('login: the request was not allowed within 5 minutes'),
      ),
    );
    return await promise;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function same(found: string, expected: string): boolean {
  const [a, b] = [Buffer.from(found), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A missing browser is not an error: the address was printed. */
function open(page: URL): void {
  const [command, ...args] = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }[platform() as string] ?? [
    'xdg-open',
  ];
  const child = spawn(command ?? 'xdg-open', [...args, page.href], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
