/**
 * The push provider's HTTP v1 API: exchanges the signature of a service account for an access token (RFC 7523) and sends messages with it.
 * Both addresses are fixed to the provider's; uploaded credentials cannot change them.
 */
import { createSign } from 'node:crypto';
import { type Clock, errorText } from '@platform/base';

/** The fields of a service account's credentials that are used. */
export interface ServiceAccount {
  readonly project_id: string;
  readonly client_email: string;
  readonly private_key: string;
}

export interface ProviderAddresses {
  readonly tokenUrl: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export const providerAddresses: ProviderAddresses = {
  tokenUrl: 'https://oauth2.googleapis.com/token',
  apiUrl: 'https://fcm.googleapis.com',
};

/** The result for one device. `deadToken`: the app is no longer installed on it, or the token was never valid. */
export type PushResult =
  | { readonly outcome: 'accepted' }
  | {
      readonly outcome: 'deadToken' | 'rejected' | 'retryLater';
      readonly code?: number;
      readonly error: string;
      readonly retryAfterMs?: number;
    };

export interface PushProvider {
  send(account: ServiceAccount, message: unknown, signal: AbortSignal): Promise<PushResult>;
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const lifetimeSeconds = 3_600;
/** Tokens are renewed this long before they expire. */
const marginMs = 60_000;
const timeoutMs = 15_000;
const maxAnswerLength = 64 * 1_024;
const maxKnownTokens = 1_000;

export function createPushProvider({ clock, addresses }: { clock: Clock; addresses: ProviderAddresses }): PushProvider {
  const tokens = new Map<string, { readonly token: string; readonly endsMs: number }>();

  const accessToken = async (account: ServiceAccount, signal: AbortSignal): Promise<string | PushResult> => {
    const key = `${account.client_email} ${account.private_key}`;
    const known = tokens.get(key);
    if (known !== undefined && known.endsMs > clock.now()) return known.token;
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: signedClaims(account, addresses.tokenUrl, clock.now()),
    });
    const { status, json } = await ask(addresses.tokenUrl, { body }, signal);
    const { access_token: token, expires_in: seconds, error, error_description: reason } = json;
    if (status !== 200 || typeof token !== 'string') {
      const text = `the push provider gave no access token (${status}: ${[error, reason].filter(Boolean).join(', ')})`;
      // The account was deleted or its key revoked; it may have been replaced by the next attempt.
      return { outcome: 'retryLater', code: status, error: text };
    }
    if (tokens.size >= maxKnownTokens) tokens.clear();
    tokens.set(key, { token, endsMs: clock.now() + (Number(seconds) || 0) * 1_000 - marginMs });
    return token;
  };

  const sendOnce = async (account: ServiceAccount, message: unknown, signal: AbortSignal): Promise<PushResult> => {
    const token = await accessToken(account, signal);
    if (typeof token !== 'string') return token;
    const url = `${addresses.apiUrl}/v1/projects/${encodeURIComponent(account.project_id)}/messages:send`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { status, json, retryAfter } = await ask(url, { headers, body: JSON.stringify(message) }, signal);
    if (status === 401) tokens.delete(`${account.client_email} ${account.private_key}`);
    return resultOf(status, json, retryAfter);
  };

  return {
    async send(account, message, signal) {
      const late = AbortSignal.timeout(timeoutMs);
      try {
        return await sendOnce(account, message, AbortSignal.any([signal, late]));
      } catch (caught) {
        signal.throwIfAborted();
        const reason = late.aborted ? `no answer within ${timeoutMs / 1_000} s` : errorText(caught);
        return { outcome: 'retryLater', error: `the push provider could not be reached: ${reason}` };
      }
    },
  };
}

interface ProviderAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
  readonly retryAfter: string | null;
}

async function ask(
  url: string,
  request: { readonly body: string | URLSearchParams; readonly headers?: Record<string, string> },
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const answer = await fetch(url, { ...request, method: 'POST', redirect: 'error', signal });
  const text = (await answer.text()).slice(0, maxAnswerLength);
  return { status: answer.status, json: objectIn(text), retryAfter: answer.headers.get('retry-after') };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** @see https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode */
function resultOf(code: number, json: Readonly<Record<string, unknown>>, retryAfter: string | null): PushResult {
  if (code === 200) return { outcome: 'accepted' };
  const { message = '', status = '', details = [] } = Object(json['error']) as Record<string, unknown>;
  const codes = (Array.isArray(details) ? details : []).map((one) => Object(one).errorCode);
  const name = String(codes.find((one) => typeof one === 'string') ?? status);
  const error = `the push provider answered ${code} ${name}: ${String(message).slice(0, 300)}`;
  if (name === 'UNREGISTERED' || (code === 400 && /registration token/i.test(String(message))))
    return { outcome: 'deadToken', code, error };
  if (code === 401 || code === 408 || code === 429 || code >= 500) {
    const seconds = Number(retryAfter ?? Number.NaN);
    return { outcome: 'retryLater', code, error, ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1_000 }) };
  }
  return { outcome: 'rejected', code, error };
}

function signedClaims({ client_email, private_key }: ServiceAccount, audience: string, nowMs: number): string {
  const iat = Math.floor(nowMs / 1_000);
  const claims = { iss: client_email, scope, aud: audience, iat, exp: iat + lifetimeSeconds };
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${createSign('RSA-SHA256').update(text).sign(private_key, 'base64url')}`;
}
