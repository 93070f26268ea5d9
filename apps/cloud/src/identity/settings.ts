/** Settings for signing in, from the environment; settings.ts of the app reads them. */
import { readFileSync } from 'node:fs';
import { errorText, invalidArgument, type PlatformError } from '@platform/base';
import type { MailSettings } from '../outbox/email/mail-server.ts';
import type { OpenIdSettings } from './sign-in/open-id.ts';
import { defaultSessionSettings, type SessionSettings } from './sign-in/sessions.ts';

export interface IdentitySettings {
  /** PLATFORM_PUBLIC_URL: public URL of this installation, without a trailing slash; absent: where it listens. */
  readonly publicUrl: string | undefined;
  /** PLATFORM_SESSION_HOURS (default 12, since the last use) and PLATFORM_CLI_SESSION_DAYS (default 90). */
  readonly sessions: SessionSettings;
  /** PLATFORM_SMTP_URL and PLATFORM_MAIL_FROM; absent: links are shown instead of mailed. */
  readonly mail: MailSettings | undefined;
  /** PLATFORM_OIDC_ISSUER, PLATFORM_OIDC_CLIENT_ID, PLATFORM_OIDC_CLIENT_SECRET or PLATFORM_OIDC_CLIENT_SECRET_FILE. */
  readonly openId: OpenIdSettings | undefined;
}

/** @throws invalid_argument naming the variable, the expected and the found value; never a secret. */
export function readIdentitySettings(env: NodeJS.ProcessEnv): IdentitySettings {
  return Object.freeze({
    publicUrl: publicUrlOf(textOf(env, 'PLATFORM_PUBLIC_URL')),
    sessions: {
      browserIdleMs: numberOf(env, 'PLATFORM_SESSION_HOURS', 3_600_000) ?? defaultSessionSettings.browserIdleMs,
      cliMs: numberOf(env, 'PLATFORM_CLI_SESSION_DAYS', 86_400_000) ?? defaultSessionSettings.cliMs,
    },
    mail: mailOf(env),
    openId: openIdOf(env),
  });
}

function mailOf(env: NodeJS.ProcessEnv): MailSettings | undefined {
  const smtpUrl = textOf(env, 'PLATFORM_SMTP_URL');
  const from = textOf(env, 'PLATFORM_MAIL_FROM');
  if (smtpUrl === undefined && from === undefined) return undefined;
  if (smtpUrl === undefined || from === undefined)
    throw wrong(
      smtpUrl === undefined ? 'PLATFORM_SMTP_URL' : 'PLATFORM_MAIL_FROM',
      'both or neither of PLATFORM_SMTP_URL and PLATFORM_MAIL_FROM',
      'none',
    );
  const url = URL.parse(smtpUrl);
  // The address contains a password, so it is not shown.
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw wrong('PLATFORM_SMTP_URL', 'an address such as smtps://name:password@mail.example.com', 'another');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (!/^[^\u0000-\u001f\u007f]*@[^\u0000-\u001f\u007f]+$/.test(from))
    throw wrong('PLATFORM_MAIL_FROM', 'a sender such as Platform <platform@example.com>', JSON.stringify(from));
  return { smtpUrl, from };
}

function openIdOf(env: NodeJS.ProcessEnv): OpenIdSettings | undefined {
  const issuer = textOf(env, 'PLATFORM_OIDC_ISSUER');
  const clientId = textOf(env, 'PLATFORM_OIDC_CLIENT_ID');
  const file = textOf(env, 'PLATFORM_OIDC_CLIENT_SECRET_FILE');
  const given = textOf(env, 'PLATFORM_OIDC_CLIENT_SECRET');
  if (issuer === undefined && clientId === undefined && file === undefined && given === undefined) return undefined;
  const url = URL.parse(issuer ?? '');
  const here = url !== null && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (issuer === undefined || url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && here)))
    throw wrong('PLATFORM_OIDC_ISSUER', 'an https address (http on this computer only)', issuer ?? 'none');
  if (clientId === undefined) throw wrong('PLATFORM_OIDC_CLIENT_ID', 'it together with PLATFORM_OIDC_ISSUER', 'none');
  const clientSecret = file === undefined ? given : secretIn(file);
  if (clientSecret === undefined)
    throw wrong('PLATFORM_OIDC_CLIENT_SECRET', 'it, or PLATFORM_OIDC_CLIENT_SECRET_FILE', 'neither');
  return { issuer, clientId, clientSecret };
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (caught) {
    throw wrong('PLATFORM_OIDC_CLIENT_SECRET_FILE', 'a file that can be read', `${file} (${errorText(caught)})`);
  }
}

function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.search === '')
    return url.origin;
  throw wrong(
    'PLATFORM_PUBLIC_URL',
    'an address without a path, such as https://fleet.example.com',
    JSON.stringify(text),
  );
}

function numberOf(env: NodeJS.ProcessEnv, name: string, unitMs: number): number | undefined {
  const text = textOf(env, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 10_000) return Math.round(value * unitMs);
  throw wrong(name, 'a number above 0, at most 10000', JSON.stringify(text));
}

function textOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function wrong(name: string, expected: string, found: string): PlatformError {
  return invalidArgument(`${name}: expected ${expected}, found ${found}`);
}
