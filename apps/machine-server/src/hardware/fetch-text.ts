/** Fetches a URL, with limits on time and size. */
import {
  type Clock,
  deadlineExceeded,
  errorText,
  invalidValue,
  PlatformError,
  resourceExhausted,
  unavailable,
} from '@platform/base';

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const mostRedirects = 10;

export interface FetchOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

/**
 * @returns the answer, before its body
 * @throws unavailable with the status, or with the reason if there is no answer
 */
export async function fetchAnswer({ url, headers, signal }: FetchOptions): Promise<Response> {
  let answer: Response;
  try {
    answer = await follow({ url, headers, signal });
  } catch (caught) {
    if (signal.aborted) throw signal.reason;
    if (caught instanceof PlatformError) throw caught;
    throw unavailable(`${nameOf(url)}: no answer (${errorText(caught)}); check the address and the network`, caught);
  }
  if (answer.ok) return answer;
  await answer.body?.cancel();
  const hint = answer.status === 401 || answer.status === 403 ? '; check the headers' : '';
  throw unavailable(`${nameOf(url)}: expected status 200, found ${answer.status}${hint}`);
}

/** The headers that a configuration names may be secrets: after a redirect, another origin gets only what is accepted. */
async function follow({ url, headers, signal }: FetchOptions): Promise<Response> {
  let at = url;
  for (let count = 0; count <= mostRedirects; count++) {
    const sent = at.origin === url.origin ? headers : { accept: headers['accept'] ?? '*/*' };
    const answer = await fetch(at, { headers: sent, signal, redirect: 'manual' });
    const location = answer.headers.get('location');
    if (!redirects.has(answer.status) || location === null) return answer;
    await answer.body?.cancel();
    const next = URL.parse(location, at.href);
    if (next === null || !/^https?:$/.test(next.protocol))
      throw unavailable(`${nameOf(at)}: expected a redirect to an http or https address`);
    at = next;
  }
  throw unavailable(`${nameOf(url)}: expected at most ${mostRedirects} redirects, found more`);
}

/** The text of an answer. @throws deadline_exceeded, resource_exhausted, or as `fetchAnswer` */
export async function fetchText(
  options: FetchOptions,
  { timeoutMs, maxBytes, clock }: { readonly timeoutMs: number; readonly maxBytes: number; readonly clock: Clock },
): Promise<string> {
  const { url, signal } = options;
  const limit = new AbortController();
  const timer = clock.after(timeoutMs, () =>
    limit.abort(deadlineExceeded(`${nameOf(url)}: expected an answer within ${timeoutMs} ms (timeout_ms)`)),
  );
  const ends = AbortSignal.any([signal, limit.signal]);
  try {
    const answer = await fetchAnswer({ ...options, signal: ends });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of answer.body ?? []) {
      length += chunk.length;
      if (length > maxBytes)
        throw resourceExhausted(`${nameOf(url)}: expected at most ${maxBytes} bytes (max_bytes), found more`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (caught) {
    if (ends.aborted) throw ends.reason;
    if (caught instanceof PlatformError) throw caught;
    throw unavailable(`${nameOf(url)}: the answer was cut off (${errorText(caught)})`, caught);
  } finally {
    timer[Symbol.dispose]();
  }
}

/** An address for messages: without a password or a query, which may contain secrets. */
export function nameOf({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** @param protocols such as `http:`. @throws invalid_argument */
export function parseUrl(text: string, at: string, protocols: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && url.host !== '' && protocols.includes(url.protocol)) return url;
  const expected = protocols.map((each) => `${each}//…`).join(' or ');
  throw invalidValue(at, `an address such as ${expected}`, text);
}
