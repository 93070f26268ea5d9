/** Payment settings, from the environment; settings.ts of the app reads them. */
import { readFileSync } from 'node:fs';
import { errorText, invalidArgument, type PlatformError } from '@platform/base';

export interface StripeSettings {
  readonly provider: 'stripe';
  /** PLATFORM_STRIPE_SECRET_KEY or PLATFORM_STRIPE_SECRET_KEY_FILE. With a test key every document is stamped TEST. Never logged. */
  readonly secretKey: string;
  /**
   * PLATFORM_STRIPE_WEBHOOK_SECRET or PLATFORM_STRIPE_WEBHOOK_SECRET_FILE: verifies what Stripe sends to `/webhooks/stripe`. Never logged.
   */
  readonly webhookSecret: string;
  /** PLATFORM_STRIPE_API_URL: a proxy in front of Stripe, or a stand-in for tests. Absent: Stripe itself. */
  readonly apiUrl: string | undefined;
}

/**
 * PLATFORM_PAYMENT_PROVIDER: how invoices are paid. `manual` (default): by transfer, which the host administrator records. `test`: no money
 * moves, and each document is stamped TEST. `stripe`: cards are charged by Stripe (D28).
 */
export type PaymentSettings = { readonly provider: 'manual' | 'test' } | StripeSettings;

const secretKeyForm = /^(sk|rk)_(test|live)_[\x21-\x7e]{8,240}$/;
const webhookSecretForm = /^whsec_[\x21-\x7e]{8,240}$/;

/** @throws invalid_argument naming the variable, the expected and the found value; never a secret. */
export function readPaymentSettings(env: NodeJS.ProcessEnv): PaymentSettings {
  const provider = env['PLATFORM_PAYMENT_PROVIDER'] || 'manual';
  if (provider === 'manual' || provider === 'test') return Object.freeze({ provider });
  if (provider !== 'stripe')
    throw wrong('PLATFORM_PAYMENT_PROVIDER', 'manual, test or stripe', JSON.stringify(provider));
  return Object.freeze({
    provider,
    secretKey: secretOf(env, 'PLATFORM_STRIPE_SECRET_KEY', secretKeyForm, 'a key such as sk_live_… or rk_live_…'),
    webhookSecret: secretOf(env, 'PLATFORM_STRIPE_WEBHOOK_SECRET', webhookSecretForm, 'a secret such as whsec_…'),
    apiUrl: apiUrlOf(env['PLATFORM_STRIPE_API_URL'] || undefined),
  });
}

function secretOf(env: NodeJS.ProcessEnv, name: string, form: RegExp, expected: string): string {
  const file = env[`${name}_FILE`] || undefined;
  const secret = file === undefined ? env[name] || undefined : secretIn(`${name}_FILE`, file);
  if (secret === undefined) throw wrong(name, `it, or ${name}_FILE, with the payment provider stripe`, 'neither');
  if (form.test(secret)) return secret;
  throw wrong(name, expected, `${secret.length} other characters (not shown, because it is a secret)`);
}

function secretIn(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (caught) {
    throw wrong(name, 'a file that can be read', `${file} (${errorText(caught)})`);
  }
}

/** The secret key is sent to this URL: never in plaintext over a network. */
function apiUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isHere = url !== null && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere);
  if (url !== null && isSafe && url.pathname === '/' && url.search === '' && url.username === '') return url.origin;
  throw wrong(
    'PLATFORM_STRIPE_API_URL',
    'an https address without a path (http on this computer only)',
    JSON.stringify(text),
  );
}

function wrong(name: string, expected: string, found: string): PlatformError {
  return invalidArgument(`${name}: expected ${expected}, found ${found}`);
}
